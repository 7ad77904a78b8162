"""Cut a caption at its final verb phrase: what comes before is `start`, the rest the gold ending (SWAG §2).

The paper's rule runs on a constituency tree: go down from the root through nodes that are neither a verb phrase nor a
noun phrase; of the verb phrases reached, the last one is the ending. Four splitters make that cut: `trees` uses a tree
that comes with the caption, `benepar` a tree that it makes, `spacy` a dependency parse, `rules` tags alone. No reading
of files here and no dropping: a caption that cannot be cut gets None.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from swag_af.data.errors import ContractError, InputError, in_one_line, several, told
from swag_af.data.plugins.own_code import blaming
from swag_af.data.plugins.registry import Registry
from swag_af.data.syntax.clauses import parsed_verb_group, rules_verb_group
from swag_af.data.syntax.constituency import BENEPAR_MODEL, has_benepar, load_benepar, parse
from swag_af.data.syntax.taggers import check_annotates, has_spacy_pipeline, load_spacy, parse_tokens
from swag_af.data.text.wording import comparable
from swag_af.data.tokens import token_spans
from swag_af.data.video import Caption


@dataclass(frozen=True, slots=True)
class Split:
    """A caption in two parts: `start` up to the final verb phrase, `ending` from there on, both as spelt in it."""

    start: str
    ending: str


class Splitter(Protocol):
    """Something that cuts captions at their final verb phrase."""

    name: str
    """Recorded in the pool's manifest."""

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        """One split per caption; None where there is no verb phrase or nothing before it."""
        ...


_NEEDS = (
    "A splitter has a name, and split(captions), which gives a swag_af.data.syntax.splitters.Split, or None, for each."
)
SPLITTERS = Registry(
    "splitter",
    {
        "auto": "swag_af.data.syntax.splitters:AutoSplitter",
        "rules": "swag_af.data.syntax.splitters:RulesSplitter",
        "trees": "swag_af.data.syntax.splitters:TreesSplitter",
        "spacy": "swag_af.data.syntax.splitters:SpacySplitter",
        "benepar": "swag_af.data.syntax.splitters:BeneparSplitter",
    },
    {"spacy": "PIPELINE", "benepar": "MODEL"},
    methods=("split",),
    needs=_NEEDS,
)


def load_splitter(name: str = "auto") -> Splitter:
    """The splitter called `name`: `rules`, `trees`, `spacy`, `spacy[PIPELINE]`, `benepar`, `benepar[MODEL]` or `auto`.

    A pipeline or model is a name or a path. `auto` uses a caption's tree where it has one, and otherwise the best
    splitter available on this machine: benepar with its model, spaCy with its small English pipeline, or the rules.
    """
    splitter: Splitter = SPLITTERS.make(name)
    return splitter


def splits_of(splitter: Splitter, captions: Sequence[Caption]) -> list[Split | None]:
    """`splitter.split(captions)`; ContractError, which names it, where somebody's own raises, or gives anything but a
    `Split` of texts, or None, for each caption."""
    with blaming(splitter, "split", _NEEDS):
        made: object = splitter.split(captions)
    who = f"splitter {splitter.name}"
    if not isinstance(made, list | tuple) or len(made) != len(captions):
        what = several(len(made), "split") if isinstance(made, list | tuple) else told(made)
        raise ContractError(f"{who}: split gave {what} for {several(len(captions), 'caption')}. {_NEEDS}")
    if strange := [one for one in made if not _is_split(one)]:
        raise ContractError(f"{who}: split gave {told(strange[0])}, which is no Split of two texts. {_NEEDS}")
    return list(made)


def _is_split(one: object) -> bool:
    return one is None or (isinstance(one, Split) and isinstance(one.start, str) and isinstance(one.ending, str))


def cut(text: str, at: int) -> Split | None:
    """`text` cut before character `at`, without the blanks around the cut; None when a side would be empty."""
    start, ending = text[:at].rstrip(), text[at:].lstrip()
    return Split(start, ending) if any(map(str.isalnum, start)) and ending else None


class AutoSplitter:
    """A caption's own tree where it has one, the best available splitter where it has none."""

    def __init__(self) -> None:
        self._trees, self._others = TreesSplitter(), load_splitter(best_at_hand())
        self.name = f"trees-or-{self._others.name}"
        self.model = getattr(self._others, "model", None)

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        with_tree = [bool(caption.tree) for caption in captions]
        trees = iter(self._trees.split([c for c, has in zip(captions, with_tree, strict=True) if has]))
        others = iter(self._others.split([c for c, has in zip(captions, with_tree, strict=True) if not has]))
        return [next(trees) if has else next(others) for has in with_tree]


def best_at_hand() -> str:
    """The name of the best splitter of plain sentences for which nothing has to be installed or downloaded."""
    if has_benepar():
        return "benepar"
    return "spacy" if has_spacy_pipeline() else "rules"


# ---------------------------------------------------------------------------------------------------- trees


class TreeError(InputError):
    """What is wrong with the tree of a caption."""

    def __init__(self, caption: Caption, said: str) -> None:
        super().__init__(f"{caption.text!r}: {said}")
        self.caption, self.said = caption, said

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeError, (self.caption, self.said)


class TreesSplitter:
    """The paper's rule on bracketed trees with Penn Treebank labels."""

    name = "trees"

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        return [_split_by_tree(caption) for caption in captions]


def _split_by_tree(caption: Caption) -> Split | None:
    spans = token_spans(caption.text)
    tree = _read_tree(caption)
    _check_leaves(caption, [str(leaf) for leaf in tree.leaves()], [caption.text[begin:end] for begin, end in spans])
    return _cut_at_token(caption.text, spans, _last_verb_phrase(tree))


def _check_leaves(caption: Caption, leaves: Sequence[str], tokens: Sequence[str]) -> None:
    """Raise TreeError unless the leaves of a tree are the tokens, where these are words, and as many, but for a full
    stop behind them, which was added."""
    n, advice = len(leaves), "Parse the tokens of swag_af.data.tokens.tokenize, or split with rules."
    if n != len(tokens) and not (n == len(tokens) - 1 and tokens[-1] == "."):
        raise TreeError(caption, f"its tree has {n} leaves for {len(tokens)} tokens. {advice}")
    for leaf, token in zip(leaves, tokens, strict=False):
        written = _BRACKETS.get(leaf, leaf.replace("\\/", "/"))  # as the Penn Treebank escapes them
        if any(map(str.isalnum, written + token)) and comparable(written) != comparable(token):
            raise TreeError(caption, f"its tree has {leaf} where the caption has {token}. {advice}")


_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def _read_tree(caption: Caption) -> Any:
    if not caption.tree:
        raise TreeError(caption, "no tree. Give captions with trees, or split with auto or rules.")
    from nltk import Tree

    try:
        return Tree.fromstring(caption.tree)
    except ValueError as error:
        why = f"its tree cannot be read ({in_one_line(error)}). Mend it, or split with rules."
        raise TreeError(caption, why) from error


def _verb_phrases(node: Any, first_leaf: int) -> Iterator[int]:
    """First leaves of the verb phrases under `node` that no verb phrase or noun phrase contains."""
    if isinstance(node, str):
        return
    label = node.label().split("-")[0].split("=")[0]
    if label == "VP" and node.leaves():
        yield first_leaf
    elif label != "NP":
        for child in node:
            yield from _verb_phrases(child, first_leaf)
            first_leaf += 1 if isinstance(child, str) else len(child.leaves())


# -------------------------------------------------------------------------------------------------- benepar


class BeneparSplitter:
    """The paper's rule on the trees of a benepar model."""

    argument: ClassVar[str] = "model"

    def __init__(self, model: str = BENEPAR_MODEL) -> None:
        self.name = f"benepar:{model}"
        self.model = Path(model)
        self._parser = load_benepar(model)

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        spans = [token_spans(caption.text) for caption in captions]
        words = [[c.text[begin:end] for begin, end in s] for c, s in zip(captions, spans, strict=True)]
        trees = parse(self._parser, words, [_blank_follows(s) for s in spans])
        return [
            _cut_at_token(caption.text, s, _last_verb_phrase(tree))
            for caption, s, tree in zip(captions, spans, trees, strict=True)
        ]


def _blank_follows(spans: list[tuple[int, int]]) -> list[bool]:
    begins = [begin for begin, _ in spans[1:]]
    return [end < begin for (_, end), begin in zip(spans, [*begins, 0], strict=False)]


def _last_verb_phrase(tree: Any) -> int | None:
    """First leaf of the final verb phrase of a tree; None without one, or without a tree."""
    starts = [] if tree is None else list(_verb_phrases(tree, 0))
    return starts[-1] if starts else None


# ---------------------------------------------------------------------------------------------------- spaCy


class SpacySplitter:
    """The verb group of the last clause with its own subject, by a spaCy dependency parse.

    Where the parse has no such clause, the rules are used: that is mostly a wrong parse (docs/CAPTIONS.md). In the
    parse of a pipeline of another language than English there is no cut then.
    """

    argument: ClassVar[str] = "pipeline"

    def __init__(self, pipeline: str = "en_core_web_sm") -> None:
        self.name = f"spacy:{pipeline}"
        self._nlp = load_spacy(pipeline)
        check_annotates(self._nlp, pipeline, ("POS", "DEP"), "Give one with a parser, or split with rules.")
        self.model = Path(self._nlp.path)

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        spans = [token_spans(caption.text) for caption in captions]
        words = [[c.text[begin:end] for begin, end in s] for c, s in zip(captions, spans, strict=True)]
        docs = parse_tokens(self._nlp, words)
        return [
            _cut_at_token(caption.text, s, _verb_group_of(doc, tokens))
            for caption, s, tokens, doc in zip(captions, spans, words, docs, strict=True)
        ]


def _cut_at_token(text: str, spans: list[tuple[int, int]], i: int | None) -> Split | None:
    return cut(text, spans[i][0]) if i is not None else None


def _verb_group_of(doc: Any, words: Sequence[str]) -> int | None:
    heads = [token.head.i if token.head.i != token.i else -1 for token in doc]
    group = parsed_verb_group([token.pos_ for token in doc], heads, [token.dep_ for token in doc])
    return rules_verb_group(words) if group is None and doc.lang_ == "en" else group


# ---------------------------------------------------------------------------------------------------- rules


class RulesSplitter:
    """The final verb phrase from part-of-speech tags: no parser, thousands of captions a second."""

    name = "rules"

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        return [_split_by_rules(caption.text) for caption in captions]


def _split_by_rules(text: str) -> Split | None:
    spans = token_spans(text)
    return _cut_at_token(text, spans, rules_verb_group([text[begin:end] for begin, end in spans]))
