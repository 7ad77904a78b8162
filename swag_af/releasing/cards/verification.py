"""The section of the dataset card about human verification: rules, annotators, agreement, distribution of labels."""

from collections import Counter

from swag_af.data.errors import several
from swag_af.judging.agreement import INTERVALS, agreement_rows, distribution_rows, kinds_of, measure
from swag_af.judging.screening import NOBODY_SCREENED, screens_nobody, told_rule
from swag_af.releasing.dataset import Dataset
from swag_af.reporting.tables.markdown import markdown_table

_JUDGES = {
    "majority": "the majority",
    "dawid-skene": "the model of Dawid and Skene (1979)",
    "mace": "MACE (Hovy et al. 2013)",
}

RULES = (
    "Each context was shown with gold and other assigned endings in random order; every ending was rated likely, "
    "unlikely or gibberish, and the best and the second best were picked. A context makes a question when gold is best "
    "or second best and more than three endings are not gibberish. Its distractors are the generated endings that are "
    "neither of the best two nor gibberish. Where a generated ending is best and gold second, a second question with "
    "that ending as its answer is added to train, never to val or test. (Zellers et al. 2018, 3.5, A.4.)"
)

RULES_OF_MATCHING = (
    "Each question was shown with its right answer and its wrong ones in random order; every answer was rated likely, "
    "unlikely or gibberish, and the best and the second best were picked. It is released when the right answer is best "
    "or second best, and enough wrong ones are left: those that are neither gibberish nor best, and of these the "
    "second best only where the others are too few. (After Zellers et al. 2018, 3.5, A.4, where more endings were "
    "shown than needed.)"
)


def verification_lines(dataset: Dataset) -> list[str]:
    """Rules, numbers, agreement and distribution of labels; figures are of the verdicts that count."""
    assert dataset.opinions is not None
    found = measure(dataset.opinions.counted)
    of_gold, of_others = kinds = kinds_of(dataset.run)
    judged = f"{of_gold} and of {of_others} {'answers' if dataset.run.matching else 'endings'}"
    has_media = bool(dataset.questions[0].media)
    sources = Counter(question.example.source for question in dataset.questions)
    rows = [("answer", "questions"), *((f"`{source}`", f"{n:,}") for source, n in sorted(sources.items()))]
    return [
        _rules(dataset),
        "",
        *(
            ["Whether people saw what is shown with the texts (`verify serve --media`) verdicts do not say.", ""]
            if has_media
            else []
        ),
        _numbers(dataset),
        "",
        *markdown_table(rows),
        "",
        _sources(dataset),
        "",
        "Agreement of annotators, beside the figures of the paper:",
        "",
        *markdown_table(agreement_rows(found)),
        "",
        f"What was said of {judged}:",
        "",
        *markdown_table(distribution_rows(found, kinds)),
        "",
        INTERVALS,
    ]


def _rules(dataset: Dataset) -> str:
    """How endings were judged, and what becomes of them."""
    if dataset.run.matching:
        return RULES_OF_MATCHING
    return RULES if dataset.run.pool.is_generated else RULES.replace("generated ending", "wrong ending")


def _sources(dataset: Dataset) -> str:
    """What the names of sources mean, by the way in which several verdicts become one."""
    of_gold = (
        "`gold0` had most points (two for best, one for second best, so that of several people none need have picked "
        "it best), `gold1` the next most"
        if dataset.options.judge == "majority"
        else "`gold0` was judged best, `gold1` second"
    )
    gen = "a generated answer" if dataset.run.pool.is_generated else "a wrong ending that was preferred to gold"
    generated = "" if dataset.run.matching else f"; `gen` is {gen}"
    return f"{of_gold}; `orig` at the first showing, `reannot` after bad endings were replaced{generated}."


def _numbers(dataset: Dataset) -> str:
    """Verdicts, annotators, screening and items in a paragraph."""
    opinions = dataset.opinions
    assert opinions is not None
    n_items = len({verdict.item for verdict in opinions.counted})
    n_again = len({verdict.item for verdict in opinions.counted if verdict.item.round})
    return (
        f"Verdicts: {len(opinions.verdicts):,}, annotators: {opinions.n_annotators:,}; {_screening(dataset)}. "
        f"The verdicts that count are on {several(n_items, 'item')}, {len(opinions.counted) / n_items:.1f} on each; "
        f"{n_again:,} of the items were second showings with fresh endings. Several verdicts on one item are brought "
        f"together by {_JUDGES[dataset.options.judge]}."
    )


_HERE = "here (the files of verdicts may leave out people already, as the server's do whom it has shut out)"


def _screening(dataset: Dataset) -> str:
    opinions = dataset.opinions
    assert opinions is not None
    if not dataset.options.screen:
        return f"nobody was screened out {_HERE}"
    if screens_nobody(opinions.verdicts):
        return f"{NOBODY_SCREENED[0].lower()}{NOBODY_SCREENED[1:-1]} {_HERE}"
    rule = f"for ranking gold among their two best in {told_rule(opinions.verdicts)}"
    if not opinions.dropped:
        return f"nobody had to be dropped {rule} {_HERE}"
    n_verdicts = len(opinions.verdicts) - len(opinions.counted)
    return (
        f"{len(opinions.dropped):,} of them were dropped, with {several(n_verdicts, 'verdict')}, {rule}. Who disagrees "
        "with gold is gone then, and of those who guess the luckiest stay, so the shares of gold below are biased "
        "upwards"
    )
