"""The word tables of the sample grammar, read from `scenes.toml` when they are first used.

The file explains how its lines are written; here they get types. Nothing is drawn here.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Words = frozenset[str]
Items = tuple[str, ...]
"""Words or phrases, one of which is drawn."""
Lines = tuple[str, ...]
"""Clauses, in the notation of the file."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One kind of video: its people, things and actions."""

    name: str
    leads: Items
    """Whom the video is about, when it is one person."""
    groups: Items
    """The same, several persons; empty when the scene needs one person."""
    others: Items
    """Who may join later."""
    wear: Items
    """Garments that the people of this scene can wear."""
    places: Items
    """Prepositional phrases that may open a sentence."""
    adverbs: Items
    slots: dict[str, Items]
    openings: Lines
    """First captions: states that last. The subject is introduced here."""
    steps: Lines
    """What happens, in order."""
    sides: Lines
    """What a second person does; all of them last."""
    events: Lines
    """What things, animals and crowds do meanwhile; `+` marks what does not happen in the first half."""
    shots: Lines
    """Noun phrases for captions without a verb; `+` as in events."""


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables of the file, under the names that they have there."""

    looks: Items
    colors: Items
    counts: Items
    general_openings: Lines
    general_sides: Lines
    manners: Lines
    closings: Lines
    openers: Items
    numbers: Words
    determiners: Words
    prepositions: Words
    particles: Words
    adverbs: Words
    adjectives: Words
    plurals_without_s: Words
    singulars_in_s: Words
    states: Words
    passives: Words
    pronouns: dict[str, Items]
    genders: dict[str, str]
    members: dict[str, Items]
    ages: dict[str, Items]
    scenes: tuple[Scene, ...]


@cache
def tables() -> Tables:
    """The tables of `scenes.toml`."""
    given = tomllib.loads(files(__package__).joinpath("scenes.toml").read_text(encoding="utf-8"))
    typed: dict[str, Any] = {name: _items(text) for name, text in given["lists"].items()}
    typed |= {name: _lines(text) for name, text in given["lines"].items()}
    typed |= {name: frozenset(text.split()) for name, text in given["classes"].items()}
    return Tables(
        **typed,
        pronouns=_mapped(given["pronouns"]),
        genders=given["genders"],
        members=_mapped(given["members"]),
        ages=_mapped(given["ages"]),
        scenes=tuple(_scene(**scene) for scene in given["scene"]),
    )


def _scene(name: str, slots: Mapping[str, str], **texts: str) -> Scene:
    typed = {key: _lines(text) if key in _OF_LINES else _items(text) for key, text in texts.items()}
    return Scene(name=name, slots=_mapped(slots), **typed)


_OF_LINES = ("openings", "steps", "sides", "events", "shots")


def _mapped(texts: Mapping[str, str]) -> dict[str, Items]:
    return {name: _items(text) for name, text in texts.items()}


def _items(text: str) -> Items:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def _lines(text: str) -> Lines:
    return tuple(text.strip().splitlines())
