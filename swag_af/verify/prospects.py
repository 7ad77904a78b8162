"""What is said before anybody is asked: whether verdicts on a run can make questions, and what people will not see."""

from swag_af.data.errors import InputError, several
from swag_af.data.runs.run import Run
from swag_af.judging.rules import N_DISTRACTORS, most_distractors
from swag_af.judging.screening import NOBODY_SCREENED
from swag_af.judging.verdicts import N_ENDINGS, TOO_FEW


def unseen_media(run: Run) -> str | None:
    """A line where contexts name media, which neither the pages nor the tasks show; None where none does."""
    shown = [set(context.media) for context in run.pool.contexts if context.media]
    if not shown:
        return None
    names = ", ".join(sorted(set[str]().union(*shown)))
    return (
        f"{several(len(shown), 'context names', 'contexts name')} what is shown with the text ({names}), and people "
        "are not shown it here: they judge by the texts alone. `verify serve --media FOLDER` shows pictures and videos."
    )


def check_prospects(run: Run, iteration: int | None, *, is_begun: bool = False) -> str | None:
    """A line where verdicts can make questions with fewer distractors than usual only, or every ending is needed; None
    where nothing is amiss.

    InputError where no verdict can make a question; of a verification that `is_begun`, a line says so instead, since
    what people have answered must stay within reach.
    """
    n_shown = min(N_ENDINGS, run.assignment(iteration).shape[1]) - 1
    most = most_distractors(n_shown, keep_second=run.matching is not None)
    if most > N_DISTRACTORS:
        return None
    if most == N_DISTRACTORS:
        return _no_spares(run, n_shown)
    shown = f"{run.path}: an item shows {several(n_shown, 'negative')}, of which"
    if most:
        screening = f" {NOBODY_SCREENED}" if n_shown == 1 else ""
        at_most = f"{several(most, 'distractor')} at most: release with --n-distractors {most}."
        return f"{shown} verdicts make {at_most}{screening}"
    fault = f"{shown} no verdict makes a question. Run `swag-af filter` with --n-negatives {TOO_FEW} or more."
    if not is_begun:
        raise InputError(fault)
    return fault


def _no_spares(run: Run, n_shown: int) -> str:
    """That one bad ending is enough to leave a question out, and which command shows more."""
    fault, more = "gibberish", "`swag-af filter` with --n-negatives"
    if run.matching is not None:
        fault, more = "gibberish or best", "`swag-af match` with --n-distractors"
    return (
        f"{run.path}: no spare endings. An item shows {n_shown} negatives, and a question needs {N_DISTRACTORS}: one "
        f"that people call {fault} leaves it out. {more} {N_ENDINGS - 1} shows {N_ENDINGS} endings, as in the paper."
    )
