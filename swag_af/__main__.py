"""`python -m swag_af` is `swag-af`."""

import sys


def main() -> None:
    """Run one verb; where it is interrupted before it is loaded, say so in a line, with code 130."""
    try:
        from swag_af.cli.main import main as run
    except KeyboardInterrupt:
        print("swag-af: interrupted. Nothing was begun.", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
