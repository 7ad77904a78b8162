"""`python -m swag_af` is `swag-af`."""

from swag_af.cli.main import main

main()
