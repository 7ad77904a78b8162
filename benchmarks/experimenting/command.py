"""The command line of the experiment."""

import argparse
import shutil
import sys
from pathlib import Path

from experimenting.figures import draw
from experimenting.growth import growth_seconds, measure_growth, measure_wide, wide_seconds
from experimenting.joined import joined_seconds, measure_joined
from experimenting.nested import make_nested
from experimenting.pools import join_parts, make_variants
from experimenting.reading import read_sheet, write_questions
from experimenting.record import RECORD, as_lines
from experimenting.released import measure_released
from experimenting.repeats import measure_repeats, repeats_seconds
from experimenting.results import RESULTS, collect, read_results, shown
from experimenting.running import LOGS, Work, print_plan, run_steps, told_log
from experimenting.sizes import BIG, BIGGER, SIZES, TINY
from experimenting.starts import measure_starts, starts_seconds
from experimenting.steps import RELEASED, Setting, with_hidden
from experimenting.tables import BEGIN, END, document, in_part, with_part
from swag_af.data.disk.files import write_text
from swag_af.data.errors import InputError, SwagAfError
from swag_af.data.scale import Part, parse_part

KEPT = "experiment"
"""The folder, among the documents, of the pages of the sizes."""


def write_results(setting: Setting) -> None:
    """`results.json`, `results.md` and the figures, of what there is; what is there in part is said."""
    results = collect(setting)
    if some := in_part(results):
        print(f"results: measured in part: {some}", file=sys.stderr)
    write_text(setting.out / "results.md", document(results, "figures"))
    draw(results, setting.out / "figures")


MEASUREMENTS: dict[str, Work] = {
    "variants": make_variants,
    "pool": join_parts,
    "subsets": make_nested,
    "joined": measure_joined,
    "repeats": measure_repeats,
    "growth": measure_growth,
    "wide": measure_wide,
    "starts": measure_starts,
    "fourway": measure_released,
    "reading": write_questions,
    "results": write_results,
}
"""Steps that are no commands of swag-af."""

FORECASTS = {
    "growth": growth_seconds,
    "wide": wide_seconds,
    "starts": starts_seconds,
    "joined": joined_seconds,
    "repeats": repeats_seconds,
}
"""CPU seconds of those that take long."""

ORDER = (
    *("contexts", "train-lm", "generate", "variants", "pool", "filter", "release", "reading"),
    *("audit", "joined", "repeats", "growth", "wide", "starts", "subsets", "nested", "encoder", "fourway", "results"),
)
"""All steps, in their order."""


OF_PARTS = {"pool": (BIG, BIGGER), "joined": (BIG,), "repeats": (BIG, BIGGER)}
"""Steps that need several parts, or all: the runs whose parts they need."""
OF_RELEASED = ("release", "reading", "fourway")
"""Steps that need the run whose questions are released."""


def main() -> None:
    """Run the experiment, print what it would do, or read a reader's sheet back."""
    options = parsed()
    try:
        setting = Setting(
            with_hidden(SIZES[options.size], options.hidden),
            options.out,
            options.data.resolve(),
            options.encoder and options.encoder.resolve(),
            tuple(options.parts),
            tuple(options.arms),
        )
        steps = [step for step in ORDER if step in options.steps and step not in out_of_reach(setting)]
        if options.dry_run:
            print_plan(setting, steps, {name: seconds(setting) for name, seconds in FORECASTS.items()})
        elif options.write_docs:
            write_docs(setting, options.write_docs)
        elif options.read:
            read_sheet(setting, options.read, options.reader)
            write_results(setting)
        else:
            run_steps(setting, steps, MEASUREMENTS, part=options.shard)
    except SwagAfError as error:
        print(f"experiment: {error}", file=sys.stderr)
        sys.exit(2)


def out_of_reach(setting: Setting) -> set[str]:
    """Steps that need runs or parts which are not worked on."""
    made = set(setting.together())
    steps = {step for step, arms in OF_PARTS.items() if not made & set(arms)}
    return steps if RELEASED in setting.run_names() else steps | set(OF_RELEASED)


def write_docs(setting: Setting, docs: Path) -> None:
    """The figures, pictures and tables of the experiment into the documents, with the record and the logs: into the
    folder of its size, below the words of its README."""
    if not (setting.out / RESULTS).exists():
        raise InputError(f"{setting.out / RESULTS}: not there. Run the step `results` first.")
    results = shown(read_results(setting.out / RESULTS))
    folder = docs / KEPT / setting.size.name
    page = folder / "README.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    if BEGIN not in text or END not in text:
        raise InputError(f"{page}: has no place for the tables. Write the lines {BEGIN} and {END} below its words.")
    whole = with_part(text, document(results, "."))
    write_text(folder / RESULTS, as_lines(results))
    shutil.copytree(setting.out / RECORD, folder / RECORD, dirs_exist_ok=True)
    for log in sorted((setting.out / LOGS).glob("*.log")):
        write_text(folder / LOGS / log.name, told_log(setting, log.read_text(encoding="utf-8")))
    draw(results, folder)
    write_text(page, whole)


def shard(text: str) -> Part:
    """The value of --shard."""
    part = parse_part(text)
    if part is None:
        raise argparse.ArgumentTypeError(f"{text}: write I/N, I from 1 to N")
    return part


def parsed() -> argparse.Namespace:
    """The command line, read."""
    arms = list(dict.fromkeys(arm.name for size in SIZES.values() for arm in (*size.together, *size.arms)))
    parser = argparse.ArgumentParser(prog="experiment", description=__doc__)
    asked = ",".join(name for name in SIZES if name != TINY.name)  # that one is the tests', who bring its captions
    parser.add_argument("--size", choices=list(SIZES), required=True, metavar=f"{{{asked}}}")
    parser.add_argument("--out", type=Path, required=True, help="folder of all that is made")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of public data sets")
    parser.add_argument("--encoder", type=Path, help="a pretrained encoder, for the audit by one that took no part")
    parser.add_argument("--hidden", type=int, help="units of the language models, in place of the size's")
    parser.add_argument("--steps", nargs="+", choices=ORDER, default=list(ORDER), metavar="STEP", help=" ".join(ORDER))
    parser.add_argument("--parts", nargs="+", type=int, default=[], metavar="K", help="the work of these parts only")
    parser.add_argument(
        "--arms", nargs="+", choices=arms, default=[], metavar="ARM", help=f"these only: {' '.join(arms)}"
    )
    parser.add_argument(
        "--shard", type=shard, metavar="I/N", help="filter, audit, encoder, nested: this process's runs of N"
    )
    parser.add_argument("--dry-run", action="store_true", help="print commands and forecasts, and run nothing")
    parser.add_argument("--read", type=Path, metavar="SHEET", help="a reader's sheet, read back into the results")
    parser.add_argument("--write-docs", type=Path, metavar="DOCS", help="put the results into the documents there")
    parser.add_argument("--reader", metavar="WHO", help="with --read: who the reader is, as the results shall say it")
    options = parser.parse_args()
    if options.read and not options.reader:
        parser.error('--read: say who has read, --reader "a student of linguistics"')
    return options
