"""Forms for the platforms that need one: Label Studio's tasks and labeling config, MTurk's page, Prolific's questions.

Replies are read by `read_label_studio`, and by the table readers in `csv`.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from swag_af.data.disk.files import read_json, write_json, write_text
from swag_af.data.errors import InputError
from swag_af.judging.verdicts import RATINGS
from swag_af.verify.exchange.tasks import BEST, SECOND, SEVERAL, Reply, Task, brief_of

LABEL_STUDIO = """<View>
  <Header value={brief} size="5"/>
  <Text name="context" value="$context"/>
{endings}
  <Header value={best} size="5"/>
  {best_choices}
  <Header value={second} size="5"/>
  {second_choices}
</View>
"""

MTURK = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<style>
  body {{ font: 17px/1.5 system-ui, sans-serif; max-width: 46em; margin: auto; padding: 1em }}
  fieldset {{ border: 1px solid #bbb; border-radius: 6px; margin: 0 0 .8em; padding: .5em 1em }}
  legend {{ padding: 0 .4em }}
  label {{ display: inline-block; margin-right: 1.5em; padding: .3em 0 }}
  .context {{ font-size: 115%; font-weight: 600 }}
</style>
<crowd-form>
  <p>{brief}</p>
  <p class="context">${{sent1}}<br><span data-ending="${{start}}">${{start}} &hellip;</span></p>
{fields}
</crowd-form>
<script>
  // An item may have fewer endings than the form has rows, and no beginning of a sentence.
  for (const row of document.querySelectorAll("[data-ending]")) {{
    if (row.dataset.ending.trim() === "") {{
      row.querySelectorAll("input").forEach((input) => {{ input.required = false }});
      row.hidden = true;
    }}
  }}
  // Nothing is best and second best at once.
  document.addEventListener("change", () => {{
    const best = document.querySelector("[name=best]:checked");
    document.querySelectorAll("[name=second]").forEach((input) => {{
      input.disabled = best !== null && best.value === input.value;
      input.checked = input.checked && !input.disabled;
    }});
  }});
</script>
"""


def write_label_studio(path: Path, tasks: Sequence[Task]) -> None:
    """Tasks to import in a project."""
    n = max(len(task.endings) for task in tasks)
    write_json(path, [{"data": _label_studio_data(task, n)} for task in tasks])


def write_labeling_config(path: Path, tasks: Sequence[Task]) -> None:
    """The labeling config of the project; what every task has is required."""
    n, fewest = max(len(task.endings) for task in tasks), min(len(task.endings) for task in tasks)
    endings = "\n".join(
        f'  <View style="margin: 1em 0">\n    <Text name="ending{i}" value="$ending{i}"/>\n    '
        + _choices(f"rating{i}", f"ending{i}", RATINGS, required=i <= fewest)
        + "\n  </View>"
        for i in range(1, n + 1)
    )
    numbers = [str(i) for i in range(1, n + 1)]
    config = LABEL_STUDIO.format(
        brief=quoteattr(brief_of(tasks)),
        endings=endings,
        best=quoteattr(BEST),
        best_choices=_choices("best", "context", numbers, required=True),
        second=quoteattr(SECOND),
        second_choices=_choices("second", "context", numbers, required=True),
    )
    write_text(path, config)


def read_label_studio(path: Path) -> Iterator[Reply]:
    """Replies in a JSON export, one per annotation; cancelled ones are marked as left out."""
    tasks = read_json(path)
    if not isinstance(tasks, list):
        raise InputError(f"{path}: not a list of tasks. Export from Label Studio as JSON.")
    for number, task in enumerate(tasks, start=1):
        where = f"{path}, task {number}"
        try:
            mark, annotations = str(task["data"]["task"]), list(task["annotations"])
            texts = {i: str(text).removeprefix(f"{i}. ") for i, text in _numbered("ending", task["data"]).items()}
            yield from (_label_studio_reply(where, mark, annotation, texts) for annotation in annotations)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise InputError(
                f"{where}: not as Label Studio writes one ({type(error).__name__}: {error}). Export as JSON, not as "
                "JSON-MIN."
            ) from None


def write_mturk_layout(path: Path, tasks: Sequence[Task]) -> None:
    """The page of a HIT, for the design layout of a project."""
    n = max(len(task.endings) for task in tasks)
    rows = [
        f'  <fieldset data-ending="${{ending{i}}}">\n    <legend>{i}. ${{ending{i}}}</legend>\n'
        + _radios(f"rating{i}", RATINGS)
        + "\n  </fieldset>"
        for i in range(1, n + 1)
    ]
    for name, question in (("best", BEST), ("second", SECOND)):
        numbers = "\n".join(
            f'    <span data-ending="${{ending{i}}}">{_radio(name, str(i))}</span>' for i in range(1, n + 1)
        )
        rows.append(f"  <fieldset>\n    <legend>{html.escape(question)}</legend>\n{numbers}\n  </fieldset>")
    write_text(path, MTURK.format(brief=html.escape(brief_of(tasks)), fields="\n".join(rows)))


def write_prolific_questions(path: Path, tasks: Sequence[Task]) -> None:
    """The questions of a Task Builder batch, each named in brackets so that its answers are found in the report."""
    n = max(len(task.endings) for task in tasks)
    numbers = [str(i) for i in range(1, n + 1)]
    questions = [
        *((f"Ending {i}: is it likely, unlikely or gibberish? [rating{i}]", RATINGS) for i in range(1, n + 1)),
        (f"{BEST} [best]", numbers),
        (f"{SECOND} [second]", numbers),
    ]
    instructions = [
        {
            "type": "multiple_choice",
            "description": description,
            "answer_limit": 1,
            "options": [{"label": option, "value": option} for option in options],
        }
        for description, options in questions
    ]
    write_json(path, {"task_introduction": brief_of(tasks), "instructions": instructions})


def _label_studio_data(task: Task, n: int) -> dict[str, str]:
    endings = {f"ending{i}": task.endings[i - 1] if i <= len(task.endings) else "" for i in range(1, n + 1)}
    numbered = {name: f"{name.removeprefix('ending')}. {text}" if text else "" for name, text in endings.items()}
    context = f"{task.sent1}\n{task.start} …" if task.start else task.sent1
    return {"task": task.id, "context": context, **numbered}


def _numbered(name: str, given: Mapping[str, Any]) -> dict[int, Any]:
    """The values behind the keys that are `name` and a number."""
    size = len(name)
    return {int(key[size:]): value for key, value in given.items() if re.fullmatch(f"{name}[1-9][0-9]{{0,8}}", key)}


def _label_studio_reply(where: str, mark: str, annotation: dict[str, Any], endings: Mapping[int, str]) -> Reply:
    chosen, is_double = dict[str, str](), False
    for result in (one for one in annotation.get("result") or [] if one.get("type") == "choices"):
        is_double |= result["from_name"] in chosen or len(result["value"]["choices"]) > 1
        chosen[result["from_name"]] = str(result["value"]["choices"][0])
    who = annotation.get("completed_by")
    return Reply(
        where,
        mark,
        annotator=str(who.get("email") or who["id"]) if isinstance(who, dict) else "" if who is None else str(who),
        ratings=_numbered("rating", chosen),
        best=chosen.get("best", ""),
        second=chosen.get("second", ""),
        seconds=float(annotation.get("lead_time") or 0.0),
        left_out="cancelled" if annotation.get("was_cancelled") else SEVERAL if is_double else None,
        endings=endings,
    )


def _choices(name: str, of: str, values: Sequence[str], *, required: bool) -> str:
    asked = ' required="true"' if required else ""
    inside = "".join(f'<Choice value="{value}"/>' for value in values)
    return f'<Choices name="{name}" toName="{of}" choice="single-radio" showInline="true"{asked}>{inside}</Choices>'


def _radios(name: str, values: Sequence[str]) -> str:
    return "\n".join(f"    {_radio(name, value)}" for value in values)


def _radio(name: str, value: str) -> str:
    return f'<label><input type="radio" name="{name}" value="{value}" required> {value}</label>'
