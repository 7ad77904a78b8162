"""Hiding persons, or whatever matches a regular expression, in all texts of a set: a control of what is read of them.

Ids, labels, groups and the order of options stay as they are, and options that become equal stay two. What `persons`
hides is the most exact that the texts allow: tags of persons as [person1], where there are any, and the neutral names
that stood in for them; in other texts the pronouns of the third person and the nouns of `WORDS`. Names that stood in
for no tag are not known, so they stay.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from swag_af.data.errors import InputError, several
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.options import PERSONS
from swag_af.data.instances.tagged import NAMES, PERSON_TAG

MASK = "[MASK]"
"""What stands in place of what is hidden."""

WORDS = (
    *("he", "him", "his", "himself", "she", "her", "hers", "herself", "they", "them", "their", "theirs", "themselves"),
    *("someone", "somebody", "anyone", "anybody", "everyone", "everybody", "person", "persons", "people"),
    *("man", "men", "woman", "women", "boy", "boys", "girl", "girls", "guy", "guys", "lady", "ladies", "gentleman"),
    *("gentlemen", "child", "children", "kid", "kids", "baby", "babies", "toddler", "toddlers", "adult", "adults"),
    *("teenager", "teenagers", "male", "males", "female", "females"),
)
"""What names a person in plain English, in any letter case, as whole words; before `'s`, too."""

_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
_NAME = re.compile(rf"{PERSON_TAG.pattern}|\b(?:{'|'.join(NAMES)})\d*\b")


def masked(instances: Instances, mask: str, *, has_names: bool = False) -> Instances:
    """The instances with [MASK] in place of what `mask` (`ReadingOptions.mask`) says, and a note that counts it.

    `has_names` says that neutral names were put in place of tags. `unmasked` keeps the instances as they were; those
    without a match are the same objects in both. Raises InputError where nothing matches.
    """
    pattern, what = _pattern(instances.instances, mask, has_names)
    n = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal n
        n += bool(found[0])
        return MASK if found[0] else ""

    def hide(text: str) -> str:
        return pattern.sub(replaced, text)

    hidden = tuple(_changed(one, hide) for one in instances.instances)
    if not n:
        raise InputError(f"{instances.name}: no text matches --mask {mask}, so nothing would be hidden. Check it.")
    made = replace(instances, instances=hidden, unmasked=instances.instances)
    changed = sum(one is not other for one, other in zip(hidden, instances.instances, strict=True))
    note = f"{n:,} {what} were hidden as {MASK}, in {changed:,} of {several(len(hidden), 'instance')}"
    return replace(made, notes=(*instances.notes, note))


def _pattern(instances: Iterable[Instance], mask: str, has_names: bool) -> tuple[re.Pattern[str], str]:
    """What is hidden, and what it is called."""
    if mask != PERSONS:
        return re.compile(mask), f"matches of --mask {mask}"
    if has_names:
        return _NAME, "names in place of tags of persons"
    if any(PERSON_TAG.search(text) for one in instances for text in (one.context, one.start, *one.options)):
        return PERSON_TAG, "tags of persons"
    return _WORD, "pronouns and nouns for persons"


def _changed(one: Instance, change: Callable[[str], str]) -> Instance:
    """The instance with all its texts changed; the same object where none does."""
    texts = one.context, one.start, one.options
    context, start, options = change(one.context), change(one.start), tuple(map(change, one.options))
    return one if (context, start, options) == texts else replace(one, context=context, start=start, options=options)
