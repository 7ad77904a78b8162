"""The verb `train-tagger`: a treebank in, a small spaCy pipeline out that tags and, unless `--no-parser` is given,
parses.

A window of words over hashed embeddings of their forms (spaCy's own small architecture), a morphologizer that sets
universal tags, and a transition parser, trained together. No weights are shipped. The last and the best epoch are
stored beside the output, so a killed training resumes at the epoch it was in and reaches the same weights. `splitters`
finds clauses in the output of the pipeline.
"""

import contextlib
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
from msgspec import Meta

from swag_af.data.disk.files import read_arrays, read_json, write_json
from swag_af.data.disk.manifests import (
    MANIFEST,
    check_replaceable,
    check_same,
    read_manifest,
    sha256_file,
    write_manifest,
)
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import remove, remove_leftovers_of, replacing
from swag_af.data.errors import FormatError, InputError, in_one_line, takes_options
from swag_af.data.syntax.clauses import parsed_verb_group
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.data.syntax.taggers import import_spacy
from swag_af.data.syntax.treebank import Sentence, gold_cut, read_treebank
from swag_af.data.work.progress import progress

_STEP_WORDS = 800
"""Words of a gradient step; fewer where an epoch would have fewer than 100 steps."""
_LEARNING_RATE = 2e-3
_WARM_UP = 0.05
"""Share of the steps in which the learning rate rises; then it falls to nothing."""
_DROPOUT = 0.1

Advance = Callable[..., None]


@takes_options
def train_tagger(options: TrainTaggerOptions) -> dict[str, Any]:
    """Train, keep the epoch that is best on the held-out sentences, and write the pipeline; returns its figures.

    Without `options.dev`, every tenth sentence of the treebank is held out. Same options, same files, same machine:
    same weights, interrupted or not.
    """
    import_spacy()
    seconds = time.process_time()
    out = Path(os.path.abspath(options.out))
    epochs = out.with_name(f".{out.name}.epochs")
    if epochs.exists() and not options.force and (made := _made(options)) is not None:
        remove(epochs)
        return {**made, "cpu_seconds": time.process_time() - seconds}
    check_replaceable(out, "tagger", force=options.force)
    train, dev = _sentences(options)
    plan = _plan(options)
    state = _State(epochs, plan)
    n_done = len(state.reports)
    with progress("train-tagger", options.epochs * len(train), "sentences", done=n_done * len(train)) as advance:
        for epoch in range(n_done, options.epochs):
            nlp, optimizer = state.open() if epoch else _new_pipeline(train, options)
            with _enough_to_parse(options):
                _run_epoch(nlp, optimizer, train, options, epoch, advance)
            report = measure(nlp, dev, parser=options.parser)
            state.keep(nlp, optimizer, report)
            advance(0, note=f"epoch {epoch + 1}: {report['tag_accuracy']:.1%} of held-out tags")
    best = state.best
    figures = {"n_sentences": len(train), "n_held_out": len(dev), "best_epoch": best + 1, **state.reports[best]}
    with replacing(out) as folder:
        shutil.copytree(state.folder / "best", folder)
        write_manifest(folder, "tagger", {**plan, **figures, "epochs_held_out": state.reports})
    remove(state.folder)
    return {**figures, "cpu_seconds": time.process_time() - seconds}


@contextlib.contextmanager
def _enough_to_parse(options: TrainTaggerOptions) -> Iterator[None]:
    """Say in a line what spaCy means by E1031: its parser learns no relation that is rarer than it thinks worth it."""
    try:
        yield
    except ValueError as error:
        if "E1031" not in str(error):
            raise
        raise InputError(
            f"{options.treebank}: too few dependencies to learn a parser from. Give more sentences, or --no-parser."
        ) from error


def measure(nlp: Any, sentences: Sequence[Sentence], *, parser: bool) -> dict[str, float]:
    """Shares of gold tokens with the right tag, as written and lower-cased; if it parses, of right heads and splits."""
    from spacy.tokens import Doc

    docs = list(nlp.pipe(Doc(nlp.vocab, words=sentence.words) for sentence in sentences))
    lower = list(nlp.pipe(Doc(nlp.vocab, words=[w.lower() for w in sentence.words]) for sentence in sentences))
    n_words = sum(len(sentence.words) for sentence in sentences)
    figures = {
        name: sum(tag == token.pos_ for s, doc in zip(sentences, made, strict=True) for tag, token in _pairs(s, doc))
        / n_words
        for name, made in (("tag_accuracy", docs), ("lower_cased_tag_accuracy", lower))
    }
    if parser:
        heads = [[token.head.i if token.head.i != token.i else -1 for token in doc] for doc in docs]
        right = sum(a == b for s, h in zip(sentences, heads, strict=True) for a, b in zip(s.heads, h, strict=True))
        figures["head_accuracy"] = right / n_words
        cuts = [
            parsed_verb_group([token.pos_ for token in doc], h, [token.dep_ for token in doc]) == gold
            for s, doc, h in zip(sentences, docs, heads, strict=True)
            if (gold := gold_cut(s)) is not None
        ]
        if cuts:
            figures["split_accuracy"] = sum(cuts) / len(cuts)
    return figures


def _pairs(sentence: Sentence, doc: Any) -> Iterator[tuple[str, Any]]:
    return zip(sentence.tags, doc, strict=True)


def _sentences(options: TrainTaggerOptions) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences to learn from, and those held out."""
    given = read_treebank(options.treebank)
    if options.dev is not None:
        return given, read_treebank(options.dev)
    if len(given) < 10:
        raise InputError(
            f"{options.treebank}: {len(given)} sentences, too few to hold some out. Give others with --dev."
        )
    return [s for i, s in enumerate(given) if i % 10 != 9], given[9::10]


def _plan(options: TrainTaggerOptions) -> dict[str, Any]:
    """What must be the same when a training resumes."""
    settings = {k: v for k, v in asdict(options).items() if k not in ("treebank", "dev", "out", "force")}
    return {
        **settings,
        "spacy": import_spacy().__version__,
        "treebank_sha256": sha256_file(options.treebank),
        "dev_sha256": sha256_file(options.dev) if options.dev else None,
    }


def _made(options: TrainTaggerOptions) -> dict[str, Any] | None:
    """The figures of the pipeline in `options.out` if it was made by these options, whose run was then killed while it
    removed its epochs; None otherwise."""
    if not (options.out / MANIFEST).exists():
        return None
    manifest, plan = read_manifest(options.out, "tagger"), _plan(options)
    if any(manifest.get(name) != value for name, value in plan.items()):
        return None
    return {name: value for name, value in manifest.items() if name not in {"format", "kind", "epochs_held_out", *plan}}


def _new_pipeline(train: Sequence[Sentence], options: TrainTaggerOptions) -> tuple[Any, Any]:
    """An untrained pipeline for the tags and relations of `train`, and its optimizer."""
    nlp = import_spacy().blank("en")
    nlp.add_pipe("tok2vec", config={"model": _embedding_config(options.width)})
    words = {"@architectures": "spacy.Tok2VecListener.v1", "width": options.width}
    nlp.add_pipe("morphologizer", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": words}})
    if options.parser:
        parser = {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "parser",
            "extra_state_tokens": False,
            "hidden_width": 64,
            "maxout_pieces": 2,
            "use_upper": True,
            "tok2vec": words,
        }
        nlp.add_pipe("parser", config={"model": parser})
    with _seeded(options.seed % 2**32):
        return nlp, nlp.initialize(lambda: [_example(nlp, sentence) for sentence in train])


def _embedding_config(width: int) -> dict[str, Any]:
    """spaCy's small recipe for a CPU: hashed norms, prefixes, suffixes and shapes, four windows of three words."""
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": width,
            "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
            "rows": [5000, 1000, 2500, 2500],
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": width,
            "depth": 4,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    }


def _run_epoch(
    nlp: Any, optimizer: Any, train: Sequence[Sentence], options: TrainTaggerOptions, epoch: int, advance: Advance
) -> None:
    """One pass over the sentences in an order of its own, some of them lower-cased."""
    rng = np.random.default_rng((options.seed, epoch))
    order, lower = rng.permutation(len(train)), rng.random(len(train)) < options.lower_share
    with _seeded(int(rng.integers(2**32))):
        done = 0
        for batch in _batches([len(train[i].words) for i in order.tolist()]):
            share = (epoch + done / len(train)) / options.epochs
            optimizer.learn_rate = _LEARNING_RATE * min((share + 0.001) / _WARM_UP, (1 - share) / (1 - _WARM_UP), 1)
            chosen = order[done : done + batch]
            nlp.update([_example(nlp, train[i], lower=bool(lower[i])) for i in chosen], sgd=optimizer, drop=_DROPOUT)
            done += batch
            advance(batch)


def _batches(lengths: Sequence[int]) -> Iterator[int]:
    """How many of the next sentences make up each step."""
    most = min(_STEP_WORDS, max(20, sum(lengths) // 100))
    n, words = 0, 0
    for length in lengths:
        n, words = n + 1, words + length
        if words >= most:
            yield n
            n, words = 0, 0
    if n:
        yield n


def _example(nlp: Any, sentence: Sentence, *, lower: bool = False) -> Any:
    from spacy.tokens import Doc
    from spacy.training import Example

    words = [word.lower() for word in sentence.words] if lower else sentence.words
    heads = [i if head < 0 else head for i, head in enumerate(sentence.heads)]
    relations = ["ROOT" if h < 0 else r for h, r in zip(sentence.heads, sentence.relations, strict=True)]
    gold = Doc(nlp.vocab, words=words, pos=sentence.tags, heads=heads, deps=relations)
    return Example(Doc(nlp.vocab, words=words), gold)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of Python and numpy, which spaCy draws from, and restore them afterwards."""
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002


class _Begun(TypedDict):
    """`state.json`."""

    plan: dict[str, Any]
    reports: Annotated[list[Annotated[dict[str, float], Meta(min_length=1)]], Meta(min_length=1)]


class _State:
    """The epochs done so far, in a folder: `last` and `best` pipelines, the optimizer's moments, and the figures.

    Every epoch begins from the files, even without interruption: a spaCy pipeline that was read from disk does not
    learn bit for bit like the one that was written, but all that were read do.
    """

    def __init__(self, folder: Path, plan: dict[str, Any]):
        self.folder, self.plan = folder, plan
        self.reports: list[dict[str, float]] = []
        self.anew = f"Remove {folder} and run the same command again."
        remove_leftovers_of(folder)
        if (folder / "state.json").exists():
            begun = parse_record(read_json(folder / "state.json"), _Begun, folder / "state.json", self.anew)
            check_same(begun["plan"], plan, folder, "--out")
            self.reports = begun["reports"]

    @property
    def best(self) -> int:
        """The epoch with the highest mean of its accuracies, the first one of several."""
        means = [sum(report.values()) / len(report) for report in self.reports]
        return means.index(max(means))

    def keep(self, nlp: Any, optimizer: Any, report: dict[str, float]) -> None:
        """Write the state after one more epoch, whole or not at all."""
        self.reports.append(report)
        is_best = self.best == len(self.reports) - 1
        with replacing(self.folder) as folder:
            folder.mkdir()
            nlp.to_disk(folder / "last")
            if is_best:
                shutil.copytree(folder / "last", folder / "best")
            else:
                shutil.copytree(self.folder / "best", folder / "best")
            np.savez(folder / "moments.npz", allow_pickle=False, **_moments(nlp, optimizer))
            write_json(folder / "state.json", {"plan": self.plan, "reports": self.reports})

    def open(self) -> tuple[Any, Any]:
        """The pipeline and the optimizer as they were after the last epoch that was kept."""
        kept = read_arrays(self.folder / "moments.npz", self.anew)
        try:
            nlp = import_spacy().load(self.folder / "last")
        except Exception as error:  # of a damaged file spaCy says in many ways that it is one
            raise FormatError(f"{self.folder / 'last'}: damaged ({in_one_line(error, 120)}). {self.anew}") from None
        optimizer = nlp.create_optimizer()
        for name, key in _parameters(nlp).items():
            if f"{name} n" in kept:
                optimizer.mom1[key], optimizer.mom2[key] = kept[f"{name} 1"], kept[f"{name} 2"]
                optimizer.nr_update[key] = int(kept[f"{name} n"])
        return nlp, optimizer


def _moments(nlp: Any, optimizer: Any) -> dict[str, np.ndarray]:
    found = {}
    for name, key in _parameters(nlp).items():
        if key in optimizer.mom1:
            found[f"{name} 1"], found[f"{name} 2"] = optimizer.mom1[key], optimizer.mom2[key]
            found[f"{name} n"] = np.array(optimizer.nr_update[key])
    return found


def _parameters(nlp: Any) -> dict[str, tuple[int, str]]:
    """The optimizer's key of every parameter, by a name that is the same in another process."""
    return {
        f"{pipe} {i} {parameter}": (node.id, parameter)
        for pipe, component in nlp.pipeline
        for i, node in enumerate(component.model.walk())
        for parameter in node.param_names
    }
