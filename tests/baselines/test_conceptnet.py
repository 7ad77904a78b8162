"""The ConceptNet rule against a slow twin, on files of ConceptNet's layout; lines that are none of it."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.baselines import conceptnet
from swag_af.baselines.conceptnet import CAUSAL, ConceptNet, conceptnet_scores, verb_and_object
from swag_af.baselines.fitting import reads_no_context
from swag_af.baselines.models import CONCEPTNET, Row
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.datasets.baselines import run_baselines
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.filters.nli.member import NLIFilter
from swag_af.filters.registry import make_filter

Edge = tuple[str, str, str]
TERMS = ("ride", "drive", "bike", "bicycle", "ball", "throw")


def write(path: Path, edges: list[Edge], *, packed: bool = False) -> Path:
    lines = (
        f"/a/[/r/{relation}/,/c/en/{a}/,/c/en/{b}/]\t/r/{relation}\t/c/en/{a}/v\t/c/en/{b}\t{{}}\n"
        for relation, a, b in edges
    )
    content = "".join(lines).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def slow_score(edges: list[Edge], verb: str, object: str) -> int:
    """Every edge looked at, for every pair of synonyms."""

    def alike(word: str) -> set[str]:
        forms = {word} | {b for relation, a, b in edges if relation == "FormOf" and a == word}
        pairs = [(a, b) for relation, a, b in edges if relation == "Synonym"]
        return forms | {y for x, y in [*pairs, *((b, a) for a, b in pairs)] if x in forms}

    verbs, objects = alike(verb), alike(object)
    return sum(
        relation in CAUSAL and a != b and ((a in verbs and b in objects) or (b in verbs and a in objects))
        for relation, a, b in edges
    )


RELATIONS = st.sampled_from([*sorted(CAUSAL), "Synonym", "FormOf", "IsA"])
EDGES = st.lists(st.tuples(RELATIONS, st.sampled_from(TERMS), st.sampled_from(TERMS)), max_size=25)


@settings(max_examples=60)
@given(edges=EDGES, verb=st.sampled_from(TERMS), object=st.sampled_from(TERMS), packed=st.booleans())
def test_the_score_is_that_of_looking_at_every_edge(
    tmp_path_factory: pytest.TempPathFactory, edges: list[Edge], verb: str, object: str, packed: bool
) -> None:
    edges = [*edges, ("UsedFor", "nothing", "nobody")]
    name = "assertions.csv.gz" if packed else "assertions.csv"
    net = ConceptNet.read(write(tmp_path_factory.mktemp("net") / name, edges, packed=packed))
    assert net.score(verb, object) == slow_score(edges, verb, object)


@pytest.mark.parametrize(
    ("start", "ending", "found"),
    [
        ("The man", "rides a red bike down the hill.", ("rides", "bike")),
        ("She", "has quickly taken off her winter coat.", ("taken", "coat")),
        ("He", "is holding the dog's leash in his hand.", ("holding", "leash")),
        ("He", "looks at the screen.", None),
        ("They", "laugh.", None),
        ("", "a piece of wood", None),
    ],
)
def test_the_head_verb_and_its_object_are_found(start: str, ending: str, found: tuple[str, str] | None) -> None:
    assert verb_and_object(start, ending) == found


def questions() -> Instances:
    rows = [
        Instance(f"q{i}", f"It rains {i}.", ("rides a bike.", "rides a cloud.", "sleeps."), 0, "She", group=f"g{i}")
        for i in range(12)
    ]
    return Instances(tuple(rows), "choices")


def test_synonyms_of_verb_and_object_are_related_and_ties_are_none(tmp_path: Path) -> None:
    edges = [("UsedFor", "bicycle", "ride"), ("Synonym", "bike", "bicycle"), ("CapableOf", "ride", "bike")]
    net = ConceptNet.read(write(tmp_path / "assertions.csv", edges))
    assert np.array_equal(conceptnet_scores(net, questions().texts), [2, 0, 0] * 12)


def test_a_verb_is_related_by_its_base_form_and_its_object_is_not() -> None:
    """`left` the noun is no form of `leave`; `went` the verb is one of `go`."""
    net = ConceptNet(Counter({("go", "school"): 1, ("leave", "go"): 1}), {}, {})
    assert net.score("went", "school") == 1
    assert net.score("went", "left") == 0
    assert net.score("left", "go") == 1


def test_the_table_says_how_many_questions_the_rule_covers(tmp_path: Path) -> None:
    net = write(tmp_path / "assertions.csv", [("UsedFor", "bike", "ride")])
    data = tmp_path / "data.csv"
    rows = [f"q{i},It rains {i}. She,rides a {'bike' if i % 2 else 'cloud'}.,sleeps.,0\n" for i in range(40)]
    data.write_text("id,startphrase,ending0,ending1,label\n" + "".join(rows))
    found = run_baselines(BaselinesOptions((data,), tmp_path / "out", models="conceptnet", conceptnet=net))
    (one,) = [note for note in found.notes if note.startswith("conceptnet") and "of test" in note]
    figure = found.figure("conceptnet", "second-sentence", "all", "test")
    assert figure is not None
    n = int(one.split()[1])
    assert figure.accuracy == pytest.approx((n + (figure.n - n) / 2) / figure.n, abs=1e-6)
    assert figure.paper == 0.26
    assert {blank.input for blank in found.blanks} == {"ending", "full"}


def test_what_is_none_of_conceptnets_files_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "assertions.csv"
    path.write_text("a,b,c\n")
    with pytest.raises(InputError, match="line 1 is none of ConceptNet's"):
        ConceptNet.read(path)
    with pytest.raises(InputError, match="no causal relation"):
        ConceptNet.read(write(path, [("IsA", "bike", "thing")]))
    with pytest.raises(InputError, match="cannot be unpacked"):
        ConceptNet.read(path.rename(tmp_path / "assertions.csv.gz"))
    with pytest.raises(InputError, match="no such file"):
        ConceptNet.read(tmp_path / "nothing.csv")


def test_files_that_are_none_are_told_before_any_work(tmp_path: Path) -> None:
    """Damage inside an archive was told as a bug of ours, and others left blanks in the table."""
    packed = bytearray(gzip.compress(b"/a/x\t/r/IsA\t/c/en/a\t/c/en/b\t{}\n" * 200))
    packed[len(packed) // 2] ^= 255
    for name, content in (("assertions.csv.gz", bytes(packed)), ("assertions.csv", b"garbage\n")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=r"cannot be unpacked|line 1 is none of ConceptNet's"):
            list(conceptnet._edges(tmp_path / name))
    with pytest.raises(InputError, match="line 1 is none of ConceptNet's"):
        _ = Row(CONCEPTNET, conceptnet=tmp_path / "assertions.csv").settings
    with pytest.raises(InputError, match="this is a folder"):
        _ = Row(CONCEPTNET, conceptnet=tmp_path).settings


def test_settings_in_brackets_are_those_that_count() -> None:
    """`--epochs` was set in their place, and did nothing for fastText with brackets."""
    assert Row("lstm[max_epochs=1]", epochs=3).settings["max_epochs"] == 1
    assert Row("lstm", epochs=3).settings["max_epochs"] == 3
    assert [Row(f"fasttext[{one}]", epochs=3).settings["epochs"] for one in ("dim=8", "epochs=7")] == [3, 7]


def test_a_filter_that_reads_two_texts_gets_them_apart() -> None:
    """`nli` was given context and start as one text, and the ending as the other."""
    assert not reads_no_context(NLIFilter(folder="folder"))
    assert reads_no_context(make_filter("bow"))
    assert not Row("nli[folder]").draws
