"""Prompts from files, and endings from what models write."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.lm.prompting.answers import endings_in, is_whole_list
from swag_af.lm.prompting.prompt import PROMPTS, Prompt, load_prompt
from swag_af.lm.prompting.sieve import REASONS, Sieve

CONTEXT = Context("A man sits at a piano.", "he", "begins to play it.")
LISTS = Prompt("t", "{{ context }}", way="list")
ONE = Prompt("t", "{{ context }}")


@pytest.mark.parametrize("name", PROMPTS)
def test_ours_can_be_read_and_say_the_context_as_released(name: str) -> None:
    prompt = load_prompt(name)
    assert "A man sits at a piano. He" in prompt.text(CONTEXT, 3)
    assert prompt.messages(CONTEXT, 3)[-1]["role"] == "user"
    assert prompt.shows_gold == (name == "wrong-answer") == (CONTEXT.gold in prompt.asked(CONTEXT, 3))


def test_a_continued_text_ends_where_the_ending_begins() -> None:
    assert load_prompt("continuation").text(CONTEXT, 1) == "A man sits at a piano. He"


def test_examples_are_turns_and_answers_are_json() -> None:
    messages = load_prompt("wrong-ending").messages(CONTEXT, 2)
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert len(json.loads(messages[2]["content"])) == 3


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('task = "a"', "template"),
        ('task = "a"\ntemplate = "{{ label }}"', "knows no label"),
        ('task = "a"\ntemplate = "{{ context"', "Jinja"),
        ('task = "a"\ntemplate = "Write {{ n }} endings."', "template names no context, so that all would be asked"),
        ('task = "a"\ntemplate = "{{ context }}"\nexamples = [{endings = "b"}]', r"Expected .*`\. Mend it; see docs"),
        ('task = "a"\ntemplate = "a"\nway = "maybe"', "way is 'maybe'. There are continue, list"),
        ('task = "a"\ntemplate = "a"\nexamples = [{sent1 = "b"}]', "example 1 has no endings"),
        ('task = "a"\ntemplate = "a"\ncolour = 1', "colour"),
    ],
)
def test_a_prompt_that_is_none_is_told_in_one_line(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=fault):
        load_prompt(str(path))


def test_a_template_that_is_empty_where_it_is_filled_is_told() -> None:
    """An empty question was sent, and paid for."""
    prompt = Prompt("t", "{% if n > 4 %}{{ context }}{% endif %}", name="mine.toml")
    assert prompt.asked(CONTEXT, 5)
    with pytest.raises(InputError, match=r"mine\.toml: template is empty where it is filled for 2 endings"):
        prompt.asked(CONTEXT, 2)


@pytest.mark.parametrize("template", ["{{ ''.__class__.__mro__ }}", "{{ context.a.b }}", "{{ n / 0 }}"])
def test_a_template_that_cannot_be_filled_is_told_in_one_line(template: str) -> None:
    with pytest.raises(InputError, match="template cannot be filled"):
        Prompt("t", template, name="mine.toml").asked(CONTEXT, 2)


def test_what_a_model_is_told_decides_the_hash_and_its_name_does_not(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('task = "a"\ntemplate = "{{ context }}"')
    other = tmp_path / "other.toml"
    other.write_text('task = "a"\ntemplate = "{{ context }}!"')
    copy = tmp_path / "copy.toml"
    copy.write_text(path.read_text())
    hashes = [load_prompt(str(one)).sha256 for one in (path, copy, other)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" plays it. He then leaves.", ["plays it."]),
        ("\n\nplays Mr. Smith a song. Then", ["plays Mr. Smith a song."]),
        ("", [""]),
    ],
)
def test_a_continuation_is_one_sentence(text: str, found: list[str]) -> None:
    assert endings_in(text, ONE) == found


@pytest.mark.parametrize(
    "text",
    [
        '["eats it.", "sells it."]',
        'Sure! Here they are:\n```json\n["eats it.", "sells it."]\n```',
        '{"endings": ["eats it.", "sells it."]}',
        '["eats it.", "sells it.", "burns i',
        "1. eats it.\n2. sells it.",
        "Here are two:\n- eats it.\n- sells it.",
    ],
)
def test_lists_are_found_in_whatever_is_around_them(text: str) -> None:
    assert endings_in(text, LISTS) == ["eats it.", "sells it."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("plays a slow song with both hands.", ""),
        ("He plays a slow song with both hands.", ""),
        ('"plays a slow song with both hands."', ""),
        ("plays a caf\ufffd song to her.", "unreadable_text"),
        ("plays a \ud83d song to her.", "unreadable_text"),
        ("plays a \x07 song to her.", "unreadable_text"),
        ("plays a caf\u00e9\tsong \U0001f3b9 to\nher.", ""),
        ("...", "blank"),
        ("I'm sorry, but I cannot write that.", "refusal"),
        ("A man sits at a piano.", "echo"),
        ("plays a slow song with both", "unfinished"),
        ("plays a song for Mr. Smith.", ""),
        ("plays a slow song. Then she bows.", "several_sentences"),
        ("sings.", "too_short"),
        ("begins  to play it", "unfinished"),
        ("Begins to play it.", "equal_to_gold"),
        ("eats the whole of it.", "repeated"),
        ("never begins to play it at all.", "holds_gold"),
        ("Wrong answer: begins to play it.", "equal_to_gold"),
        ("begins to play it (incorrect).", "equal_to_gold"),
        ("begins, to play it!", "equal_to_gold"),
        ("(begins) to-play it?", "equal_to_gold"),
        ("begins to play its song.", ""),
    ],
)
def test_the_sieve_keeps_what_can_be_an_ending(text: str, reason: str) -> None:
    sieve = Sieve(CONTEXT, 4, 4, 12, endings=["eats the whole of it."])
    assert sieve.add(text) == reason
    assert reason == "" or reason in REASONS
    assert sieve.rejected.total() == bool(reason)
    assert len(sieve.endings) == 1 + (not reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("走下楼梯看见三只鸟。", ""),
        ("走下楼梯看见三只鸟", "unfinished"),
        ("走下楼梯。看见三只鸟。", "several_sentences"),
        ("说：“看见三只鸟。”", ""),
        ("走。", "too_short"),
        ("走下楼梯看见三只大鸟和小鸟。", "too_long"),
        ("घर से चला गया।", ""),
        ("घर से चला गया। वह सो गया।", "several_sentences"),
        ("เดินไปที่บ้าน", ""),
        ("هل ذهب إلى البيت؟", ""),
    ],
)
def test_the_sieve_knows_sentences_of_other_scripts(text: str, reason: str) -> None:
    for normalised in (False, True):
        if reason != "unfinished" or not normalised:
            assert Sieve(CONTEXT, 4, 4, 13, normalise=normalised).add(text) == reason


def test_where_endings_are_texts_they_may_be_several_sentences() -> None:
    assert Sieve(CONTEXT, 4, 4, 12, ends="text").add("plays a slow song. Then she bows.") == ""


def test_lengths_and_words_are_those_that_the_pool_will_hold() -> None:
    """Golds were measured without the full stop that the pool adds, and a dash of another kind cost the context."""
    normal, as_given = (Sieve(CONTEXT, 4, 4, 5, "text", normalise=one) for one in (True, False))
    texts = ("plays a song", "plays a slow song now", "sells it \u2013 all", "sells it - all", "begins -- to play it")
    assert [normal.add(text) for text in texts] == ["", "too_long", "", "repeated", "too_long"]
    assert [as_given.add(text) for text in texts] == ["too_short", "", "", "", "equal_to_gold"]
    sieve = Sieve(Context("A.", "he", "sits \u2014 down."), 4, 1, 9, "text", normalise=True)
    assert sieve.add("sits - down") == "equal_to_gold"


def test_a_start_in_another_spelling_is_not_cut_off_within_a_word() -> None:
    sieve = Sieve(Context("A.", "Der Fu\u00df", "tut ihm weh."), 2, 1, 12)
    sieve.add("der fu\u00df liegt auf dem Tisch.")
    sieve.add("der fuss liegt am Boden.")
    assert sieve.endings == ["liegt auf dem Tisch.", "der fuss liegt am Boden."]


def test_a_full_sieve_takes_and_counts_nothing() -> None:
    sieve = Sieve(CONTEXT, 1, 1, 12)
    for text in ("plays it.", "sells it.", ""):
        sieve.add(text)
    assert sieve.is_full
    assert sieve.endings == ["plays it."]
    assert not sieve.rejected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("E. coli\nH. pylori\nS. aureus", ["E. coli", "H. pylori", "S. aureus"]),
        ("1. September 1939\n22. Juni 1941", ["1. September 1939", "22. Juni 1941"]),
        ("vein\nE. coli\nartery", ["vein", "E. coli", "artery"]),
        ("4. vein\n5. artery\n6. bone", ["vein", "artery", "bone"]),
        ("1. vein\n1. artery", ["vein", "artery"]),
        ("Here is one:\n1. vein", ["vein"]),
        ("a) vein\nb) E. coli", ["vein", "E. coli"]),
        ("- E. coli\n- H. pylori", ["E. coli", "H. pylori"]),
        ('[{"explanation": "no", "answer": "vein"}, {"answer": "bone", "score": 1}]', ["vein", "bone"]),
        ('{"reasoning": "hm", "wrong": ["vein", "bone"]}', ["vein", "bone"]),
        ('{"1": {"text": "vein", "why": "no"}, "2": {"text": "bone", "why": "no"}}', ["vein", "bone"]),
        ('[{"name": "vein", "why": "no"}, {"n": 3, "name": "bone"}, {"n": 4}]', ["vein", "bone", "4"]),
        ("[206, 7.50, -3]", ["206", "7.50", "-3"]),
        ('{"1": "aorta [ascending]", "2": "vein"}', ["aorta [ascending]", "vein"]),
        ('Use {x}: ["vein", "bone"]', ["vein", "bone"]),
        ("[]", []),
    ],
)
def test_what_a_model_writes_beside_its_answers_is_none_of_them(text: str, found: list[str]) -> None:
    """Gold kept its `E.`, and no wrong ending had one; explanations became endings; numbers were none."""
    assert endings_in(text, LISTS) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1. **nitrogen**\n2. **E. coli**", ["nitrogen", "E. coli"]),
        ("**1.** nitrogen\n**2.** oxygen", ["nitrogen", "oxygen"]),
        ("**1. nitrogen**\n**2. oxygen**", ["nitrogen", "oxygen"]),
        ("- *nitrogen*\n- _oxygen_\n- `helium`", ["nitrogen", "oxygen", "helium"]),
        ("*a* and *b*\n* c", ["c"]),
        ("*a* and *b*\nf(x) = x * y", ["*a* and *b*", "f(x) = x * y"]),
        ('["1. nitrogen gas."]', ["nitrogen gas."]),
        ('["A) nitrogen."]', ["nitrogen."]),
        ('["1. vein", "2. E. coli"]', ["vein", "E. coli"]),
        ('["E. coli", "H. pylori"]', ["E. coli", "H. pylori"]),
        ('["1. vein", "3. October"]', ["1. vein", "3. October"]),
        ('["3. October"]', ["3. October"]),
        ('["...closes the lid.", "- eats it.", "… sells it."]', ["closes the lid.", "eats it.", "sells it."]),
        ("Wrong answers:\nnitrogen\noxygen", ["nitrogen", "oxygen"]),
        ("**Wrong answers:**\n\nnitrogen\noxygen", ["nitrogen", "oxygen"]),
        ("“nitrogen”\n„oxygen“\n«helium»\n‘argon’", ["nitrogen", "oxygen", "helium", "argon"]),
        ("'doesn't eat it.'\n`sells it.`", ["doesn't eat it.", "sells it."]),
        ("'a' or 'b'\n'c'", ["'a' or 'b'", "c"]),
        ('"foo"\n"bar"', ["foo", "bar"]),
        ('"foo", "bar"', ["foo", "bar"]),
        ("1、走下山。\n2、坐下。", ["走下山。", "坐下。"]),
        ("（1）走下山。\n（2）坐下。", ["走下山。", "坐下。"]),
        ("１．行く。\n２．来る。", ["行く。", "来る。"]),
        ("1．5キロ走る。\n2．5キロ歩く。", ["1．5キロ走る。", "2．5キロ歩く。"]),
        ("①走下山。\n②坐下。", ["走下山。", "坐下。"]),
        ("・行く。\n・来る。", ["行く。", "来る。"]),
        ("「行く」。\n「来る」。", ["行く。", "来る。"]),
        ('"foo".\n"bar".', ["foo.", "bar."]),
        ('"Hi," he says.\n"Go," she says.', ['"Hi," he says.', '"Go," she says.']),
        ("1. \"**vein**\"\n2. 'bone'.", ["vein", "bone."]),
    ],
)
def test_marks_around_the_items_of_a_list_are_no_part_of_them(text: str, found: list[str]) -> None:
    """`1. **nitrogen**` became `* * nitrogen * *.`, which no gold looks like."""
    assert endings_in(text, LISTS) == found


@pytest.mark.parametrize(
    ("gold", "text", "found"),
    [
        ('"Open the red door!"', '["\\"Close it right now!\\"", "**Go.**"]', ['"Close it right now!"', "Go."]),
        (
            '"Open the red door!"',
            '1. "Close it right now!"\n2. **"Go home now!"**',
            ['"Close it right now!"', '"Go home now!"'],
        ),
        ("*opens the red door.*", '- *closes it.*\n- "goes."', ["*closes it.*", "goes."]),
        ('"Open it," he says.', '1. "Close it right now!"', ["Close it right now!"]),
        ("opens the red door.", '1. "closes it."', ["closes it."]),
    ],
)
def test_marks_that_stand_around_gold_stay_around_endings(gold: str, text: str, found: list[str]) -> None:
    """Quotes around the whole were taken off every ending and no gold, so that they told which is gold."""
    sieve = Sieve(Context("Anna turns to him.", "", gold), 4, 1, 12, "text")
    for ending in endings_in(text, LISTS, keeps=sieve.keeps):
        assert sieve.add(ending) == ""
    assert sieve.endings == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Wrong answer: eats it.", "eats it."),
        ("**Option B:** eats it.", "eats it."),
        ("The right answer is: eats it.", "eats it."),
        ("incorrect: eats it", "eats it"),
        ("eats it (this is wrong because it is false).", "eats it."),
        ("eats it (not true)", "eats it"),
        ("answers: nobody knows.", "answers: nobody knows."),
        ("has one option: to eat it.", "has one option: to eat it."),
        ("right: up to the hill.", "up to the hill."),
        ("turns (right at the hill).", "turns (right at the hill)."),
        ("plays a song (wrong notes and all).", "plays a song (wrong notes and all)."),
        ("the answer is not known.", "the answer is not known."),
    ],
)
def test_what_a_model_says_of_an_answer_is_no_part_of_it(text: str, found: str) -> None:
    sieve = Sieve(CONTEXT, 1, 1, 12, "text")
    assert sieve.add(text) == ""
    assert sieve.endings == [found]


@pytest.mark.parametrize(
    ("gold", "text", "is_held"),
    [
        ("it is red", "the claim that It is 'red'. So there", True),
        ("5 m / s", "2.5 m / s", False),
        ("5 m / s", "-5 m / s to the left", False),
        ("a + b", "b - a + b", True),
        ("a + b + c", "a - b - c - d", False),
        ("a dog", "not a dog", False),
        ("走下山。", "他不走下山。", True),
    ],
)
def test_no_ending_holds_gold_as_a_whole(gold: str, text: str, is_held: bool) -> None:
    """`not GOLD` and `GOLD, which is false` were kept as wrong answers."""
    assert Sieve(Context("What?", "", gold), 1, 1, 20, "text").add(text) == ("holds_gold" if is_held else "")


def test_what_is_said_of_gold_stays_at_endings() -> None:
    sieve = Sieve(Context("What is it?", "", "Option B: both."), 1, 1, 12, "text")
    sieve.add("Option A: neither.")
    assert sieve.endings == ["Option A: neither."]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Here:\n\n| # | wrong answer |\n|---|:--:|\n| 1 | **vein** |\n| 2 | E. coli |", ["vein", "E. coli"]),
        ("| answer | why |\n| --- | --- |\n| vein | no |\n| bone | no |", ["vein", "bone"]),
        ("| A | vein |\n| B | bone |", ["vein", "bone"]),
        ("| answer |\n|---|", []),
        ("|x| + |y|\n|x| - |y|", ["|x| + |y|", "|x| - |y|"]),
        ("|x|\n|y|", ["|x|", "|y|"]),
    ],
)
def test_rows_of_a_table_are_answers_without_their_pipes(text: str, found: list[str]) -> None:
    assert endings_in(text, LISTS) == found


def test_gold_without_its_quotes_is_no_wrong_ending() -> None:
    assert (
        Sieve(Context("Anna turns to him.", "", '"Open the red door!"'), 4, 1, 12).add("Open the red door!")
        == "equal_to_gold"
    )


@pytest.mark.parametrize("mark", ["[{}] ", "[{}]: "])
def test_numbers_in_brackets_are_no_list(mark: str) -> None:
    """They were read as the one ending `1`."""
    wanted = ["goes home.", "eats it.", "sings a song."]
    text = "\n".join(mark.format(i) + one for i, one in enumerate(wanted, start=1))
    assert endings_in(text, LISTS) == wanted


@pytest.mark.parametrize("text", ["**begins to play it.**", "“begins to play it.”", "_begins to play it._"])
def test_gold_in_other_marks_is_no_wrong_ending(text: str) -> None:
    assert Sieve(CONTEXT, 4, 4, 12).add(text) == "equal_to_gold"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<think>I could say ["soda", "beer"] but no.</think>\n["vein", "bone"]', ["vein", "bone"]),
        ('They want two.</think>["vein", "bone"]', ["vein", "bone"]),
        ("<think>Okay, the user wants\ntwo wrong answers, so", []),
        ('["opens C:\\users.", "vein"]', ["opens C:\\users.", "vein"]),
        ('["costs $\\underline{x}$", "vein"', ["costs $\\underline{x}$"]),
        ('["a\ttab", "vein"]', ["a tab", "vein"]),
        ('["carbon mono', []),
        ('{"answers": ["nitro', []),
        ("['vein', 'bone']", ["vein", "bone"]),
        ("[vein, bone]", []),
        ('Here are [3] answers:\n["vein", "bone"]', ["vein", "bone"]),
        ('[{"why": "bad", "ending": "vein"}, {"why": "worse", "end', ["vein"]),
        ("[" * 3000, []),
        ('{"a":' * 3000, []),
    ],
)
def test_thoughts_and_broken_lists_are_no_answers(text: str, found: list[str]) -> None:
    assert endings_in(text, LISTS) == found


def test_of_an_answer_that_was_cut_off_only_what_is_whole_is_taken() -> None:
    assert endings_in("1. vein\n2. bo", LISTS, is_cut=True) == ["vein"]
    assert endings_in("The user wants wrong answers.\nSo", LISTS, is_cut=True) == []


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ('["laughs [aloud]', False),
        ('["laughs [aloud].", "eats it."]', True),
        ('Here: ["a", "b"] ', True),
        ('["a", ["b"]', False),
        ("[a, b]", True),
        ("1. a [b", False),
    ],
)
def test_a_list_ends_with_the_bracket_that_closes_it(text: str, is_whole: bool) -> None:
    assert is_whole_list(text) == is_whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| closes the lid. | eats it. |", ["| closes the lid. | eats it. |"]),
        ("|  | a b |\n|  | c d |", ["| | a b |", "| | c d |"]),
        ("Here:\n| Wrong ending | Why |\n| x y | no |", ["| Wrong ending | Why |", "| x y | no |"]),
        (f"| {'1' * 5000} | b |", [f"| {'1' * 5000} | b |"]),
    ],
)
def test_lines_with_pipes_that_no_number_counts_are_lines(text: str, found: list[str]) -> None:
    assert endings_in(text, load_prompt("wrong-ending")) == found


PIECES = (
    *(
        "|",
        "---",
        "| 1 |",
        "| closes it |",
        "1.",
        "2)",
        "(b)",
        "c:",
        "①",
        "٣",
        "- ",
        "• ",
        "**",
        "`",
        "```json\n",
        "```",
    ),
    *("[", "]", "{", "}", '"', "'", "\\", "\\u12", '"answer"', ":", ",", "null", "3", "4.5", "NaN", "1e5", "\ud83d"),
    *("\n", "\n\n", " ", "He runs.", "Wrong answer:", "(incorrect)", "…", "<think>", "</think>", "“", "”", "。", "、"),
)
"""What answers are made of: tables, numbers, bullets, JSON and words."""


@given(
    text=st.lists(st.sampled_from(PIECES), max_size=24).map("".join),
    prompt=st.sampled_from(PROMPTS).map(load_prompt),
    is_cut=st.booleans(),
    keeps=st.sampled_from(["", "quotes", "emphasis"]),
)
def test_whatever_a_model_answers_is_read(text: str, prompt: Prompt, is_cut: bool, keeps: str) -> None:
    assert all(isinstance(one, str) for one in endings_in(text, prompt, is_cut=is_cut, keeps=keeps))


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('[{"a":', "}]")])
def test_brackets_within_brackets_without_end_are_read(opens: str, closes: str) -> None:
    assert endings_in(f'{opens * 900}"runs away"{closes * 900}', load_prompt("wrong-ending")) == ["runs away"]
