"""The command line of the experiment."""

import argparse
import sys
from pathlib import Path

from experimenting.pools import make_parts
from experimenting.running import Work, print_plan, run_steps
from experimenting.sizes import SIZES
from experimenting.steps import Setting, with_hidden
from swag_af.data.errors import SwagAfError

MEASUREMENTS: dict[str, Work] = {"parts": make_parts}
"""Steps that are no commands of swag-af."""

ORDER = ("contexts", "train-lm", "generate", "parts", "filter", "audit", "encoder", "release")
"""All steps, in their order."""


def main() -> None:
    """Run the experiment, print what it would do, or read a reader's sheet back."""
    options = parsed()
    try:
        setting = Setting(
            with_hidden(SIZES[options.size], options.hidden),
            options.out,
            options.data.resolve(),
            options.encoder and options.encoder.resolve(),
        )
        if options.dry_run:
            print_plan(setting, options.steps, {})
            return
        run_steps(setting, options.steps, MEASUREMENTS)
    except SwagAfError as error:
        print(f"experiment: {error}", file=sys.stderr)
        sys.exit(2)


def parsed() -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(prog="experiment", description=__doc__)
    parser.add_argument("--size", choices=("small", "paper"), required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder of all that is made")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of public data sets")
    parser.add_argument("--encoder", type=Path, help="a pretrained encoder, for the audit by one that took no part")
    parser.add_argument("--hidden", type=int, help="units of the language models, in place of the size's")
    parser.add_argument("--steps", nargs="+", choices=ORDER, default=list(ORDER), metavar="STEP", help=" ".join(ORDER))
    parser.add_argument("--dry-run", action="store_true", help="print commands and forecasts, and run nothing")
    return parser.parse_args()
