"""A set described: counts, lengths, curves, verbs beside other corpora, topics. Prints and writes nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swag_af.data.captions.language import BY_LETTER
from swag_af.data.disk.urls import told_otherwise
from swag_af.data.display.brief import brief
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances, Kind
from swag_af.data.tags import Tagger
from swag_af.data.work.progress import progress
from swag_af.describing.counts import Counts, counts_of
from swag_af.describing.lengths import Curve, Length, curve_of, lengths_of
from swag_af.describing.options import DescribeOptions, Of
from swag_af.describing.parts import Size, parts_of, sentences
from swag_af.describing.topics import Topics, n_batches, topics_of
from swag_af.describing.verbs import Verbs, compare, count_verbs


@brief
@dataclass(frozen=True, slots=True)
class Description:
    """What there is to say of a set."""

    name: str
    of: Kind
    n: int
    groups: str
    """How groups were made, in a sentence."""
    files: Mapping[str, str]
    """The SHA-256 of each file, those of other corpora too."""
    notes: tuple[str, ...]
    """How the files were read."""
    counts: Counts
    lengths: tuple[Length, ...]
    curves: tuple[Curve, ...]
    """Of the set, and of each other corpus."""
    verbs: Verbs | None
    topics: Topics | None
    warnings: tuple[str, ...] = ()
    """What makes the figures tell less than they seem to: texts that are not English, corpora without verbs."""
    reading: Mapping[str, str] = field(default_factory=dict)
    """How the files are to be read, where that is not found by itself: options by name."""
    sentences_of: Of = "golds"
    """Which texts the curves and the verbs are of."""


def description_of(
    instances: Instances, options: DescribeOptions, *, beside: Sequence[Instances] = (), tagger: Tagger
) -> Description:
    """`instances` described, `beside` other corpora; of `options` how, and not which files.

    The order of the instances does not matter.
    """
    sets = [instances, *beside]
    groups = [group(one) for one in sets]
    known: dict[str, Size] = {}
    with progress("count", 2 + len(sets), "parts") as advance:
        counts = counts_of(instances)
        advance(1)
        lengths = lengths_of(parts_of(instances), known)
        advance(1)
        curves = []
        for one in sets:
            curves.append(curve_of(one, options.of, known))
            advance(1)
    verbs = _verbs(sets, groups, options, tagger) if options.verbs else None
    return Description(
        instances.name,
        instances.kind,
        len(instances),
        groups[0].said,
        _files(sets),
        tuple(note for one in sets for note in one.notes),
        counts,
        lengths,
        tuple(curves),
        verbs,
        _topics(instances, groups[0], options) if options.topics else None,
        (*_foreign(sets), *_without_verbs(verbs)),
        told_otherwise(options.reading),
        options.of,
    )


def _files(sets: Sequence[Instances]) -> dict[str, str]:
    """The hash of every file; one whose name another set's file has is told by its own set's name too."""
    made: dict[str, str] = {}
    for one in sets:
        for name, digest in one.files.items():
            made[name if made.get(name, digest) == digest else f"{one.name} ({name})"] = digest
    return made


def _foreign(sets: Sequence[Instances]) -> Iterator[str]:
    """A warning for each corpus that is not English, whatever is hidden in it."""
    for made in sets:
        if language := made.foreign_language:
            by_letter = language in BY_LETTER
            yield (
                f"The texts of {made.name} are not English (language {language}): {'' if by_letter else 'tokens, '}"
                "question words, verbs and topics are by rules for English. Of all that follows, trust counts of "
                f"questions and of texts{_AND_LENGTHS if by_letter else ' alone'}."
            )


_AND_LENGTHS = ", and lengths, in which each letter is a token"


def _without_verbs(verbs: Verbs | None) -> Iterator[str]:
    """A warning for each corpus in which no verb is found."""
    for name, n in zip(verbs.corpora, verbs.n, strict=True) if verbs else ():
        if not n:
            yield f"No verb is found in the texts of {name} that are read for verbs, so none is compared with it."


def _verbs(sets: Sequence[Instances], groups: Sequence[Groups], options: DescribeOptions, tagger: Tagger) -> Verbs:
    texts = [sentences(one, its.numbers, options.of) for one, its in zip(sets, groups, strict=True)]
    with progress("tag", sum(map(len, texts)), "sentences") as advance:
        counted = [count_verbs(one.name, its, tagger, advance) for one, its in zip(sets, texts, strict=True)]
    return compare(counted, of=options.of, tagger=tagger.name, n_verbs=options.verbs, seed=options.seed)


def _topics(instances: Instances, groups: Groups, options: DescribeOptions) -> Topics:
    with progress("topics", n_batches(len(instances)), "batches") as advance:
        return topics_of(instances, groups.numbers, options.topics, seed=options.seed, advance=advance)
