"""What `release` prints."""

from swag_af.data.disk.urls import command
from swag_af.data.errors import several
from swag_af.data.extras import install
from swag_af.judging.rules import LEFT_OUT
from swag_af.releasing.cards.style import linked_lines, style_lines
from swag_af.releasing.dataset import Dataset, shortfalls
from swag_af.releasing.files.formats import formats_wanted
from swag_af.releasing.linked import HELD_OUT
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.tables.text import table


def released_lines(dataset: Dataset, options: ReleaseOptions) -> list[str]:
    """The sizes of the splits, what people said, what style gives away, what is to be known, and what comes next."""
    sizes = ", ".join(f"{split} {n:,}" for split, n in dataset.sizes.items())
    lines = [f"{several(len(dataset.questions), 'question')}: {sizes}", f"{dataset.kept_together} stay together"]
    lines += [*_verdict_lines(dataset), "", *style_lines(dataset.run_so_far, dataset.style)]
    if why := dataset.rationales:
        asked = f"{len(why.questions):,} of them ask for a rationale too (QA->R)."
        lines += ["", asked, *style_lines(why.run, why.style)]
    notes = [*(linked_lines(dataset) if HELD_OUT & dataset.linked.keys() else []), *shortfalls(dataset)]
    if options.formats == "auto" and "parquet" not in formats_wanted(("auto",)):
        notes.append(f"no Parquet, for want of pyarrow. Install it with: {install('publish')}")
    for note in notes:
        lines += ["", f"Note: {note}"]
    written = f"Written to {options.out}, with README.md, the dataset card."
    return [*lines, "", f"{written} Next: {command('show', options.out)}"]


def _verdict_lines(dataset: Dataset) -> list[str]:
    """How many verdicts there are, and the contexts that were left out by what they say or other reasons."""
    opinions = dataset.opinions
    if opinions is None:
        return ["Nobody has judged these endings; the card says so. `swag-af verify serve` asks people."]
    generated = f"; {several(dataset.n_generated, 'question has', 'questions have')} a generated answer"
    return [
        f"{several(len(opinions.verdicts), 'verdict')} of {several(opinions.n_annotators, 'annotator')}, "
        f"{len(opinions.dropped):,} of them dropped{'' if dataset.run.matching else generated}",
        "",
        *table(
            [("contexts left out because", "count"), *((LEFT_OUT[r], f"{n:,}") for r, n in dataset.left_out.items())]
        ),
    ]
