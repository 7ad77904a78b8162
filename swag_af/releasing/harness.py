"""`lm_eval/`: the dataset as tasks of EleutherAI's lm-evaluation-harness, in three variants.

    NAME_full               context and endings
    NAME_ending_only        the endings alone: what style gives away
    NAME_shuffled_context   the context of a question about another video: what any context gives away
    NAME_variants           the group of all three

The tasks load the questions by a copy of `lm_eval_utils`. The validation split is scored, because test may be published
without its labels; few-shot examples are drawn from train.
"""

import inspect
import re
from pathlib import Path

from swag_af.data.files import write_text
from swag_af.releasing import lm_eval_utils
from swag_af.releasing.dataset import Dataset

FOLDER = "lm_eval"

VARIANTS = {
    "full": "doc_to_text: query",
    "ending_only": 'doc_to_text: ""',
    "shuffled_context": "doc_to_text: query\nprocess_docs: !function utils.with_shuffled_contexts",
}
"""The lines that each variant adds to `_COMMON`."""

_COMMON = """task: {task}
custom_dataset: !function utils.load
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

    The variant with shuffled contexts exists only where no video has more than half of the questions.
    """
    videos = [question.video for question in dataset.of_split("val")]
    if not videos:
        return []
    others = lm_eval_utils.questions_of_other_videos(videos)
    can_shuffle = all(videos[i] != videos[other] for i, other in enumerate(others))
    prefix = re.sub(r"[^a-z0-9]+", "_", dataset.options.out.resolve().name.lower()).strip("_") or "dataset"
    tasks = [f"{prefix}_{name}" for name in VARIANTS if can_shuffle or name != "shuffled_context"]
    return [*tasks, f"{prefix}_variants"]


def write_harness(folder: Path, dataset: Dataset) -> None:
    """Write the folder `lm_eval`; nothing without validation questions."""
    if not task_names(dataset):
        return
    (folder / FOLDER).mkdir()
    *tasks, group = task_names(dataset)
    for task in tasks:
        variant = next(lines for name, lines in VARIANTS.items() if task.endswith(name))
        write_text(folder / FOLDER / f"{task}.yaml", _COMMON.format(task=task, variant=variant))
    listed = "".join(f"  - {task}\n" for task in tasks)
    write_text(folder / FOLDER / f"{group}.yaml", f"group: {group}\ntask:\n{listed}metadata:\n  version: 1.0\n")
    write_text(folder / FOLDER / "utils.py", inspect.getsource(lm_eval_utils))
