"""The verb `train-nli`: pairs read and parted, epochs that can be killed, the held-out accuracy, the folder.

Pairs are put in the order of their texts, so that of the file decides nothing. Words are those of the training pairs,
and of the pairs that choose the epoch; no held-out pair takes part in anything but its own score. Every epoch draws
from the seed and its number, and leaves a checkpoint: a run that is killed goes on from it to the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import torch

from swag_af.data.disk.files import read_json, write_json, write_jsonl
from swag_af.data.disk.manifests import made_by_others, sha256_file, sha256_json, write_manifest
from swag_af.data.disk.replacing import check_output, remove, remove_leftovers
from swag_af.data.disk.urls import link
from swag_af.data.errors import InputError, several, takes_options
from swag_af.data.instances.grouping import group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.reading import read_instances
from swag_af.data.splits import hold_aside
from swag_af.data.work.progress import note, progress
from swag_af.filters.nli.entailing import entailment_classes
from swag_af.filters.nli.folder import (
    HELD_OUT,
    WEIGHTS,
    WORDS,
    NLIManifest,
    NLIModel,
    filter_of,
    open_nli,
    read_tensors,
    words_in_order,
    write_tensors,
)
from swag_af.filters.nli.options import BEGUN, KIND, NEUTRAL, WORK, TrainNLIOptions
from swag_af.filters.pairs.batch import PairNetwork, WordTable
from swag_af.filters.pairs.fitting import PairFilter, Reader, Task, held_out_loss
from swag_af.filters.pairs.texts import Pairs, pairs_of_texts
from swag_af.filters.pairs.vectors import open_vectors
from swag_af.nn.device import pick_device, seeded
from swag_af.nn.threads import team
from swag_af.nn.training import Adam

PAIRS = "pairs"
"""What the texts, classes and groups of the data are called in a refusal."""


@takes_options
def train_nli(options: TrainNLIOptions) -> NLIModel:
    """The verb `train-nli`: the model, trained or, where the folder stands finished, read.

    Raises InputError, before any work, for what cannot be read or used, and for a folder begun otherwise.
    """
    check_output(options.out, force=True, folder=True)
    filter = filter_of(asdict(options), options.device)
    filter.check()
    data = _read(options)
    identity = _identity(options, data)
    done, work = options.out / "manifest.json", options.out / WORK
    if options.out.exists() and any(options.out.iterdir()) and not done.exists() and not work.exists():
        raise made_by_others("train-nli", options.out)
    if done.exists():
        manifest = open_nli(options.out, device=options.device).manifest
        _check_same(manifest.options.get("identity"), identity, done)
    else:
        for line in _unasked(data.instances.classes):
            note(line)
        _begin(work, identity)
        _write(options, data, _trained(options, data, filter, work), identity)
    remove(work)
    return open_nli(options.out, device=options.device)


@dataclass(frozen=True)
class _Data:
    """All pairs, in the order of their texts."""

    instances: Instances
    groups: np.ndarray
    """(N,)"""
    train: np.ndarray
    """Rows to train on ..."""
    stop: np.ndarray
    """... to choose the epoch by ..."""
    held: np.ndarray
    """... and to measure on, each ascending."""

    def texts(self, rows: np.ndarray) -> tuple[list[str], list[str]]:
        """Premises and hypotheses of `rows`."""
        chosen = [self.instances.instances[row] for row in rows.tolist()]
        return [one.context for one in chosen], [one.options[0] for one in chosen]


def _read(options: TrainNLIOptions) -> _Data:
    instances = read_instances(options.data, options.reading)
    if instances.kind != "classes" or not any(one.context for one in instances.instances):
        raise InputError(
            f"{instances.name}: no pairs of texts with classes, which NLI is. Name the columns with "
            "--premise-column, --hypothesis-column and --label-column."
        )
    if options.neutral_share and NEUTRAL not in instances.classes:
        raise InputError(
            f"{instances.name}: no class is called {NEUTRAL} (they are {', '.join(instances.classes)}), so leave out "
            "--neutral-share."
        )
    rng = np.random.default_rng((options.seed, *b"nli"))
    rows = instances.instances
    order = sorted(range(len(rows)), key=lambda row: (rows[row].context, rows[row].options, rows[row].answer))
    if 0 < options.limit < len(order):
        order = [order[at] for at in np.sort(rng.choice(len(order), options.limit, replace=False)).tolist()]
    instances = instances.take(order)
    groups = group(instances).numbers
    return _parted(instances, groups, options.held_out, rng)


def _unasked(classes: Sequence[str]) -> list[str]:
    """Who cannot ask a model of these classes, before it is trained for hours."""
    if len(entailment_classes(classes)) == 1:
        return []
    names = ""
    if all(name.isdecimal() for name in classes):
        names = (
            " Write names in place of the numbers: in SNLI and MultiNLI 0 is entailment, 1 neutral, 2 contradiction."
        )
    return [
        f"Warning: which of the classes {', '.join(classes)} is entailment? A filter and a probe of audits can be made "
        f"of them, but `guard` and `match` ask for a class of that name, and refuse this model.{names}"
    ]


def _parted(instances: Instances, groups: np.ndarray, share: float, rng: np.random.Generator) -> _Data:
    """Held out `share` of the rows, and half as many of the others to choose the epoch by; whole groups."""
    n = len(instances)
    rest, held = hold_aside(groups, round(share * n), rng=rng)
    train, stop = hold_aside(groups[rest], round(share * n / 2), rng=rng)
    parts = [np.sort(part) for part in (rest[train], rest[stop], held)]
    if not all(map(len, parts)) or groups.max() < 2:
        raise InputError(
            f"{instances.name}: {several(n, 'pair')} of {several(int(groups.max()) + 1, 'group')} of premises are "
            "too few to train on some, choose by others and measure on the rest. Take more pairs, or another "
            "--held-out."
        )
    return _Data(instances, groups, *parts)


def _identity(options: TrainNLIOptions, data: _Data) -> dict[str, Any]:
    """What decides the bytes: each option by its flag, hashes of files; paths, and where it runs, do not."""
    apart = ("data", "out", "reading", "vectors", "device")
    settings = {f"--{name.replace('_', '-')}": value for name, value in asdict(options).items() if name not in apart}
    pairs = [(one.context, *one.options, one.answer) for one in data.instances.instances]
    return {
        **settings,
        "--vectors": open_vectors(options.vectors).sha256 if options.vectors else "",
        PAIRS: sha256_json([data.instances.classes, pairs, data.groups.tolist()]),
        "swag-af": version("swag-af"),
    }


def _check_same(begun: Any, now: Mapping[str, Any], path: Path) -> None:
    """Raise InputError that names what differs between how the folder was begun and what is asked for."""
    if not isinstance(begun, dict):
        raise InputError(f"{path}: says not with which options it was begun. Choose another --out.")
    names = [name for name in now if begun.get(name) != now[name]]
    if PAIRS in names and {"--limit", "--seed"} & set(names):
        names.remove(PAIRS)  # other pairs are drawn
    if names:
        said = ", ".join(_differing(name, begun.get(name), now[name]) for name in names)
        raise InputError(f"{path}: begun with other {said}. Repeat the first command, or choose another --out.")


def _differing(name: str, begun: Any, now: Any) -> str:
    if name == PAIRS:
        return f"{PAIRS} (DATA, its columns or how it is read)"
    if name == "--vectors":
        another = "another file" if begun else "a file"
        return f"{name} ({'a file' if begun else 'none'}, now {another if now else 'none'})"
    return f"{name} ({begun}, now {now})"


def _begin(work: Path, identity: Mapping[str, Any]) -> None:
    """The work folder, empty or as a killed run with the same options left it."""
    begun = work / BEGUN
    if begun.exists():
        record = read_json(begun)
        _check_same(record.get("identity") if isinstance(record, dict) else None, identity, begun)
    else:
        write_json(begun, {"kind": KIND, "identity": identity})
    for folder in (work.parent, work):
        remove_leftovers(folder)


@dataclass
class _State:
    """Training after some epochs."""

    network: PairNetwork
    adam: Adam
    losses: list[float]
    best: Mapping[str, torch.Tensor]
    """The weights of the best epoch."""

    def tensors(self) -> dict[str, torch.Tensor]:
        """All of it, by name."""
        found = {f"now.{name}": one for name, one in self.network.state_dict().items()}
        found |= {f"best.{name}": one for name, one in self.best.items()}
        for name in _MOMENTS:
            found |= {f"{name}.{i}": one for i, one in enumerate(getattr(self.adam, name))}
        return found | {"losses": torch.tensor(self.losses, dtype=torch.float64)}

    def resume(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Go on from there."""
        self.network.load_state_dict(_under("now.", tensors))
        self.best = _under("best.", tensors)
        for name in _MOMENTS:
            for i, one in enumerate(getattr(self.adam, name)):
                one.copy_(tensors[f"{name}.{i}"])
        self.losses = tensors["losses"].tolist()

    def is_over(self, options: TrainNLIOptions) -> bool:
        """Whether there is no more to train."""
        best = max(i for i, loss in enumerate(self.losses) if loss == min(self.losses)) if self.losses else 0
        return len(self.losses) >= options.epochs or len(self.losses) - 1 - best >= options.patience


_MOMENTS = ("first", "second", "steps")


def _under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}


@dataclass(frozen=True)
class _Trained:
    filter: PairFilter
    rows: Mapping[str, int]
    """The row of each word in the table of vectors."""
    weights: Mapping[str, torch.Tensor]
    losses: list[float]


def _trained(options: TrainNLIOptions, data: _Data, filter: PairFilter, work: Path) -> _Trained:
    """The filter at its best epoch."""
    device = pick_device(options.device)
    pairs, labels, n_train = _training_pairs(options, data)
    with seeded(options.seed, device), team(filter.threads_alike):
        rows, start = filter.start_table(pairs.texts)
        words = WordTable(start, tune=filter.tune_vectors)
        network = filter.make_network(words, len(data.instances.classes)).to(device)
    reader = Reader(Pairs(pairs.texts.in_table(rows), pairs.first, pairs.second), Task(labels, 1, network.n_outputs))
    state = _State(network, Adam(network, filter.learning_rate, filter.weight_decay), [], {})
    checkpoint = work / "checkpoint.safetensors"
    if checkpoint.exists():
        state.resume(read_tensors(checkpoint))
    total, done = options.epochs * n_train, len(state.losses) * n_train
    with progress("train-nli", total, "pairs", done=done) as advance:
        while not state.is_over(options):
            _run_epoch(options, filter, state, reader, n_train, advance)
            advance(0, note=f"loss {state.losses[-1]:.4f}")
            write_tensors(checkpoint, state.tensors())
    filter.restore(words_in_order(rows), state.best, network.n_outputs)
    return _Trained(filter, rows, state.best, state.losses)


def _run_epoch(
    options: TrainNLIOptions, filter: PairFilter, state: _State, reader: Reader, n_train: int, advance: Any
) -> None:
    """One more epoch, drawn from the seed and its number; its loss on the rows behind the first `n_train`."""
    device = next(state.network.parameters()).device
    rng = np.random.default_rng((options.seed, len(state.losses)))
    with seeded(int(rng.integers(2**63 - 1)), device), team(filter.threads_alike):
        state.network.train()
        filter.train_epoch(state.network, reader, rng.permutation(n_train), state.adam, advance)
        stop = np.arange(n_train, len(reader.task.targets))
        state.losses.append(held_out_loss(state.network, reader, stop, device))
    if not isfinite(state.losses[-1]):
        raise InputError(
            f"train-nli: the loss is no number after epoch {len(state.losses)}. Are the word vectors of the usual size?"
        )
    if state.losses[-1] <= min(state.losses):
        state.best = {name: one.detach().clone() for name, one in state.network.state_dict().items()}


def _training_pairs(options: TrainNLIOptions, data: _Data) -> tuple[Pairs, np.ndarray, int]:
    """Pairs to train on, neutral ones made of others among them, and then those that choose the epoch; their labels
    (q,); and how many are to train on."""
    answers = data.instances.answers
    firsts, seconds = data.texts(data.train)
    labels = answers[data.train].tolist()
    if options.neutral_share:
        rng = np.random.default_rng((options.seed, *b"neutral"))
        n = round(options.neutral_share * len(data.train))
        one, other = rng.integers(len(data.train), size=(2, n))
        apart = data.groups[data.train][one] != data.groups[data.train][other]
        firsts = firsts + [firsts[i] for i in one[apart].tolist()]
        seconds = seconds + [seconds[i] for i in other[apart].tolist()]
        labels += [data.instances.classes.index(NEUTRAL)] * int(apart.sum())
    n_train = len(labels)
    more = data.texts(data.stop)
    pairs = pairs_of_texts([*firsts, *more[0]], [*seconds, *more[1]], as_one=False)
    return pairs, np.array([*labels, *answers[data.stop].tolist()], np.int64), n_train


def _write(options: TrainNLIOptions, data: _Data, trained: _Trained, identity: Mapping[str, Any]) -> None:
    """The files of the folder, the manifest last."""
    said = trained.filter.score_classes(*data.texts(data.held)).argmax(axis=1)
    answers = data.instances.answers[data.held]
    write_tensors(options.out / WEIGHTS, trained.weights)
    write_json(options.out / WORDS, words_in_order(trained.rows))
    held = zip(data.held.tolist(), answers.tolist(), said.tolist(), data.groups[data.held].tolist(), strict=True)
    ids = [one.id for one in data.instances.instances]
    write_jsonl(
        options.out / HELD_OUT,
        ({"id": ids[row], "label": label, "said": number, "group": group} for row, label, number, group in held),
    )
    manifest = NLIManifest(
        options={
            "model": options.model,
            "hidden": options.hidden,
            "vectors": link(Path(options.vectors), options.out) if options.vectors else "",
            "identity": dict(identity),
        },
        classes=data.instances.classes,
        sha256={name: sha256_file(options.out / name) for name in (WEIGHTS, WORDS, HELD_OUT)},
        vectors_sha256=open_vectors(options.vectors).sha256 if options.vectors else "",
        data=dict(data.instances.files),
        n_train=len(data.train),
        n_stop=len(data.stop),
        n_held_out=len(data.held),
        losses=tuple(trained.losses),
        coverage=trained.filter.coverage,
        accuracy=float((said == answers).mean()),
        notes=(*data.instances.notes, *_unasked(data.instances.classes)),
    )
    write_manifest(options.out, KIND, asdict(manifest))
