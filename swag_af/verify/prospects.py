"""What is said before anybody is asked: whether verdicts on a run can make questions, and what people will not see."""

from swag_af.data.errors import InputError, several
from swag_af.data.runs.run import Run
from swag_af.judging.rules import N_DISTRACTORS, most_distractors
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
    """A line where verdicts can make questions with fewer distractors than usual only; None where nothing is amiss.

    InputError where no verdict can make a question; of a verification that `is_begun`, a line says so instead, since
    what people have answered must stay within reach.
    """
    n_shown = min(N_ENDINGS, run.assignment(iteration).shape[1]) - 1
    most = most_distractors(n_shown, keep_second=run.matching is not None)
    if most >= N_DISTRACTORS:
        return None
    shown = f"{run.path}: an item shows {several(n_shown, 'negative')}, of which"
    if most:
        return f"{shown} verdicts make {several(most, 'distractor')} at most: release with --n-distractors {most}."
    fault = f"{shown} no verdict makes a question. Run `swag-af filter` with --n-negatives {TOO_FEW} or more."
    if not is_begun:
        raise InputError(fault)
    return fault
