"""`lm_eval/`: the dataset as tasks of EleutherAI's lm-evaluation-harness, in three variants.

    NAME_full               context and endings
    NAME_ending_only        the endings alone: what style gives away
    NAME_shuffled_context   the context of a question about another video, or of another one where none is named: what
                            any context gives away
    NAME_variants           the group of all three

Where rationales were matched there are three more, `NAME_rationales_full` and so on, in the same group.

The tasks load the questions by a copy of `utils`. The validation split is scored, because test may be published
without its labels; few-shot examples are drawn from train.
"""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

from swag_af.data.disk.files import write_text
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.lm_eval import rationales as lm_eval_rationales
from swag_af.releasing.lm_eval import utils as lm_eval_utils
from swag_af.releasing.questions import Question

FOLDER, RATIONALES = "lm_eval", "rationales"

VARIANTS = {
    "full": "doc_to_text: query",
    "ending_only": 'doc_to_text: ""',
    "shuffled_context": "doc_to_text: query\nprocess_docs: !function utils.with_shuffled_contexts",
}
"""The lines that each variant adds to `_COMMON`."""

_COMMON = """task: {task}
custom_dataset: !function {loader}.load
output_type: multiple_choice
training_split: train
validation_split: validation
fewshot_split: train
{variant}
doc_to_choice: choices
doc_to_target: label
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: acc_norm
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""


def task_names(dataset: Dataset) -> list[str]:
    """The names of the tasks, the group last; none without validation questions.

    The variants with shuffled contexts exist only where no video has more than half of the questions.
    """
    tasks = [task for task, _, _ in _tasks(dataset)]
    return [*tasks, f"{_prefix(dataset)}_variants"] if tasks else []


def _tasks(dataset: Dataset) -> list[tuple[str, str, str]]:
    """The name of each task, its variant, and the file beside it that loads its questions."""
    prefix, why = _prefix(dataset), dataset.rationales
    tasks = [(f"{prefix}_{name}", name, "utils") for name in _variants(dataset.questions)]
    if why is not None:
        tasks += [(f"{prefix}_{RATIONALES}_{name}", name, RATIONALES) for name in _variants(why.questions)]
    return tasks


def _prefix(dataset: Dataset) -> str:
    return re.sub(r"[^a-z0-9]+", "_", dataset.options.out.resolve().name.lower()).strip("_") or "dataset"


def _variants(questions: Sequence[Question]) -> list[str]:
    """The variants that there can be of questions, whose validation split is scored."""
    videos = [question.video or question.startphrase for question in questions if question.split == "val"]
    others = lm_eval_utils.questions_of_other_videos(videos)
    can_shuffle = all(videos[i] != videos[other] for i, other in enumerate(others))
    return [name for name in VARIANTS if can_shuffle or name != "shuffled_context"] if videos else []


def write_harness(folder: Path, dataset: Dataset) -> None:
    """Write the folder `lm_eval`; nothing without validation questions."""
    tasks = _tasks(dataset)
    if not tasks:
        return
    (folder / FOLDER).mkdir()
    for task, variant, loader in tasks:
        text = _COMMON.format(task=task, variant=VARIANTS[variant], loader=loader)
        write_text(folder / FOLDER / f"{task}.yaml", text)
    listed = "".join(f"  - {task}\n" for task, _, _ in tasks)
    group = task_names(dataset)[-1]
    write_text(folder / FOLDER / f"{group}.yaml", f"group: {group}\ntask:\n{listed}metadata:\n  version: 1.0\n")
    write_text(folder / FOLDER / "utils.py", inspect.getsource(lm_eval_utils))
    if dataset.rationales is not None:
        write_text(folder / FOLDER / f"{RATIONALES}.py", inspect.getsource(lm_eval_rationales))
