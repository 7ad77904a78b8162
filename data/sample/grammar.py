"""The bundled sample: short captions of made-up videos, from a seeded grammar of our own. It is synthetic.

It is for first steps, tests and demonstrations without a download: the captions of a video are in order and
coherent, every sentence comes with its gold tree and tags, and a small language model trained on them writes
endings that are on topic but wrong. It is not for results: nobody saw these videos, the sentences vary in few
ways, and nothing measured on them says anything about English or about SWAG.

How a video is made: a scene is drawn, one person or group leads it, another may join. The scene's steps are cut into
one run for each caption after the first, and each caption is drawn from its run until it reads well. The tables are in
`scenes`, the trees in `trees`.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from swag_af.data.sample.scenes import Scene, tables
from swag_af.data.sample.trees import (
    Clause,
    Node,
    bracketed,
    capitalised,
    constituent,
    inflect,
    is_plural,
    is_plural_noun,
    leaf,
    node,
    noun_phrase,
    split_position,
    universal_tags,
    verb_phrase,
    words,
)
from swag_af.data.tokens import detokenize
from swag_af.data.video import Caption, Video

SHORTEST, LONGEST = 6, 19  # tokens of a sentence, its full stop included
N_CAPTIONS = (3, 4, 4, 4, 5, 5, 5, 6)  # of a video, one drawn


@dataclass(frozen=True, slots=True)
class SampleSentence:
    """One caption with everything that its tree determines."""

    tokens: tuple[str, ...]
    """Equal to `tokenize(text)`."""
    tags: tuple[str, ...]
    """Universal part-of-speech tags, one per token."""
    tree: str
    """Bracketed Penn Treebank tree on one line; its root is S, its leaves are the tokens."""
    start: str
    """The text before the main clause's verb phrase; empty, like `ending`, where the sentence has none."""
    ending: str

    @property
    def text(self) -> str:
        return detokenize(self.tokens)


def sample_videos(n_videos: int = 800, *, seed: int = 0) -> list[Video]:
    """Made-up videos with ids like `sample-00017`; captions carry text, seconds and gold tree.

    The same seed gives the same videos, and the first n of a larger sample are the sample of n.
    """
    clock = random.Random(f"seconds {seed}")
    videos = []
    for number, sentences in enumerate(sample_sentences(n_videos, seed=seed)):
        captions = []
        now = 0.0
        for sentence in sentences:
            begin = round(now + clock.uniform(0.0, 3.0), 1)
            now = round(begin + clock.uniform(3.0, 20.0), 1)
            captions.append(Caption(text=sentence.text, seconds=(begin, now), tree=sentence.tree))
        videos.append(Video(id=f"sample-{number:05d}", source="sample", captions=tuple(captions)))
    return videos


def sample_sentences(n_videos: int = 800, *, seed: int = 0) -> list[list[SampleSentence]]:
    """The sentences of `sample_videos`, a list for each video, with tokens, tags and gold split."""
    rng = random.Random(seed)
    deck: list[Scene] = []
    videos = []
    for _ in range(n_videos):
        if not deck:
            deck = rng.sample(tables().scenes, len(tables().scenes))
        videos.append([_read(tree) for tree in _tell(deck.pop(), rng)])
    return videos


def _read(tree: Node) -> SampleSentence:
    tokens = words(tree)
    position = split_position(tree)
    start = "" if position is None else detokenize(tokens[:position])
    ending = "" if position is None else detokenize(tokens[position:])
    return SampleSentence(tuple(tokens), tuple(universal_tags(tree)), bracketed(tree), start, ending)


# ---- A video -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Person:
    """Someone in a video, or several people of one kind."""

    noun: str
    plural: bool
    pronoun: str
    age: str
    look: str
    """`in a red coat`, `with long hair`, or nothing."""
    count: str = ""
    also: bool = False
    """Whether someone with the same noun came first: `another man`, then `the other man`."""


@dataclass(slots=True)
class Story:
    """A video while it is being written: what stays the same, and who has appeared so far."""

    rng: random.Random
    scene: Scene
    slots: dict[str, str]
    lead: Person
    other: Person | None
    seen: list[Person] = field(default_factory=list)
    late: bool = False
    """Whether half of the captions are written."""
    told: list[str] = field(default_factory=list)
    """Lines of the tables that are not to be used twice."""
    last: Person | None = None
    """The subject of the sentence before, whom a pronoun may mean."""


def _tell(scene: Scene, rng: random.Random) -> list[Node]:
    """The trees of one video's captions."""
    lead = _person(scene, rng)
    other = _companion(scene, lead, rng) if rng.random() < 0.55 else None
    slots = {name: rng.choice(values) for name, values in scene.slots.items()}
    story = Story(rng, scene, slots, lead, other)
    n_captions = rng.choice(N_CAPTIONS)
    steps = scene.steps
    cuts = [len(steps) * i // (n_captions - 1) for i in range(n_captions)]
    trees = [_caption(story, [], final=False)]
    for i in range(1, n_captions):
        story.late = 2 * i >= n_captions
        trees.append(_caption(story, steps[cuts[i - 1] : cuts[i]], final=i == n_captions - 1))
    return trees


def _person(scene: Scene, rng: random.Random) -> Person:
    if scene.groups and rng.random() < 0.2:
        noun = rng.choice(scene.groups)
        count = rng.choice(tables().counts)
        person = Person(noun, True, "they", "", "", count)
    else:
        noun = rng.choice(scene.leads)
        person = Person(noun, False, _pronoun(noun, rng), "", "")
    return _dressed(person, scene, rng)


def _companion(scene: Scene, lead: Person, rng: random.Random) -> Person:
    """Someone else, of a noun that cannot be mistaken for a member of the leading group."""
    members = tables().members.get(lead.noun, (lead.noun.removesuffix("s"),)) if lead.plural else ()
    noun = rng.choice([noun for noun in scene.others if noun not in members])
    return _dressed(Person(noun, False, _pronoun(noun, rng), "", "", also=noun == lead.noun), scene, rng)


def _pronoun(noun: str, rng: random.Random) -> str:
    return tables().genders.get(noun) or rng.choice(["he", "she"])


def _dressed(person: Person, scene: Scene, rng: random.Random) -> Person:
    """The person with an age and a look, or without."""
    ages = tables().ages.get(person.noun, ())
    if ages and rng.random() < 0.5:
        person.age = rng.choice(ages)
    womanly = person.noun in {"woman", "girl", "women", "girls"}
    if not person.plural and rng.random() < 0.3:
        person.look = rng.choice([*tables().looks, *(["with long hair"] if womanly else [])])
    elif rng.random() < 0.65:
        garment, color = rng.choice(scene.wear), rng.choice(tables().colors)
        person.look = f"in {color} {_plural(garment)}" if person.plural else f"in a {color} {garment}"
    if (person.age, person.look) in {
        ("bald", "with short hair"),
        ("bald", "with dark hair"),
        ("blonde", "with dark hair"),
    }:
        person.look = ""
    return person


def _plural(noun: str) -> str:
    return noun[:-1] + "ves" if noun.endswith("f") else inflect(noun, "VBZ")


def _caption(story: Story, steps: Sequence[str], *, final: bool) -> Node:
    """One caption from its run of the steps; the opening has none.

    Drawn again until it reads well; what is thrown away leaves no trace in the story.
    """
    seen, told, last = list(story.seen), list(story.told), story.last
    while True:
        clauses = _later(story, steps, final=final) if steps else _opening(story)
        tree = capitalised(node("S", *clauses, leaf(".", ".")))
        if _reads_well(tree):
            return tree
        story.seen, story.told, story.last = list(seen), list(told), last


def _reads_well(tree: Node) -> bool:
    """Neither short nor long, no noun, verb, adjective or adverb twice, no form that would be rare."""
    tokens = [word.lower() for word in words(tree)]
    tagged = list(zip(tokens, universal_tags(tree), strict=True))
    verbs = [word for word, tag in tagged if tag == "VERB"]
    others = [word.removesuffix("s") for word, tag in tagged if tag in {"NOUN", "ADJ", "ADV"}]
    said = [word[:3] for word in verbs] + [f"{word}-" for word in others]
    return SHORTEST <= len(tokens) <= LONGEST and len(set(said)) == len(said) and _rare_forms().isdisjoint(verbs)


@cache
def _rare_forms() -> frozenset[str]:
    """Verb forms that would be rare; left out, so that 800 videos contain few rare words.

    A verb with one line in the tables is used as `slices` only, one with few lines never as `pour`. Plural events need
    the bare form and keep it.
    """
    events = {
        _parsed(predicate).verb
        for scene in tables().scenes
        for subject, predicate in (line.split("|", 1) for line in scene.events)
        if is_plural(noun_phrase(subject.strip("+ ")))
    }
    rare = {inflect(verb, "VBG") for verb, n in _lines_by_verb().items() if n == 1}
    return frozenset(rare | {verb for verb, n in _lines_by_verb().items() if n < 10} - events)


@cache
def _lines_by_verb() -> Counter[str]:
    """How many lines of the tables each verb has; a line for all scenes counts as four."""
    of_one = [lines for scene in tables().scenes for lines in (scene.openings, scene.steps, scene.sides)]
    of_all = [tables().general_openings, tables().general_sides, tables().closings, tables().manners]
    return Counter(_parsed(line).verb for lines in [*of_one, *of_all * 4] for line in lines)


# ---- Sentences: each function gives the parts of an S, without its full stop ---------------------


def _opening(story: Story) -> list[Node]:
    """The first caption: the lead is introduced in some lasting state."""
    rng, lead = story.rng, story.lead
    lines = story.scene.openings * 3 + tables().general_openings
    clauses = [_clause(story, rng.choice(lines), lead)]
    someone = _introduce(story, lead)
    shape = rng.choices(["plain", "progressive", "seen", "there", "we", "video"], [5, 4, 5, 2, 1, 1])[0]
    if shape in {"plain", "progressive", "seen"}:
        whole = _in_shape(story, shape, clauses, is_plural(someone))
        tail = [_while_doing(story, lead)] if rng.random() < 0.2 else []
        return [someone, Node("VP", (*whole.children, *tail))]
    doing = _joined(story, clauses, "VBG")
    if shape == "there":
        predicate = node("VP", _be(is_plural(someone)), node("NP", someone, doing))
        return [node("NP", leaf("EX", "there")), predicate]
    scene = node("S", someone, node("VP", *doing.children))
    if shape == "we":
        return [noun_phrase("we"), node("VP", leaf("VBP", "see"), scene)]
    verb = rng.choice(["begins", "opens", "starts"])
    return [noun_phrase("the video"), node("VP", leaf("VBZ", verb), node("PP", leaf("IN", "with"), scene))]


def _later(story: Story, steps: Sequence[str], *, final: bool) -> list[Node]:
    """Any caption but the first."""
    rng = story.rng
    shape = rng.choices(["deed", "two", "passive", "event", "camera", "shot"], [81, 6, 4.5, 3.5, 3.5, 1.6])[0]
    if shape == "two":
        return _two_clauses(story, steps)
    if shape == "passive":
        return _passive(story, steps, final=final)
    if shape == "event":
        return _happening(story, steps, final=final)
    if shape == "camera":
        return _camera(story, final=final)
    if shape == "shot":
        return [_shot(story, alone=True)]
    return _deed(story, steps, final=final)


def _deed(story: Story, steps: Sequence[str], *, final: bool) -> list[Node]:
    """Someone does the next things: the common caption."""
    rng = story.rng
    actor = _actor(story)
    if rng.random() < 0.1 and len(steps) > 1:
        first, second = _in_order(rng, steps, 2)
        front = _gerund_clause(story, first, actor)
        subject = _mention(story, actor)
        clauses = [_clause(story, second, actor)]
        return [*front, subject, _predicate(story, actor, clauses, is_plural(subject))]
    if actor is story.other and rng.random() < 0.7:
        lines = [_side(story)]
    else:
        lines = _in_order(rng, steps, rng.choices([1, 2, 3], [52, 40, 8])[0])
    if final and len(lines) < 3 and rng.random() < 0.35:
        lines = [*lines, rng.choice(tables().closings)]
    front = _front(story, final=final)
    subject = _mention(story, actor)
    clauses = [_clause(story, line, actor) for line in lines]
    if len(clauses) < 3 and _takes_manner(clauses[0]) and not is_plural(subject) and rng.random() < 0.15:
        predicate = _in_shape(story, "plain", clauses, is_plural(subject))
        return [*front, subject, constituent(_manner(story)), predicate]
    return [*front, subject, _predicate(story, actor, clauses, is_plural(subject))]


def _two_clauses(story: Story, steps: Sequence[str]) -> list[Node]:
    """`The boy throws the ball, and the dog runs after it.`"""
    actor = story.lead
    subject = _mention(story, actor)
    clauses = [_clause(story, story.rng.choice(steps), actor)]
    first = node("S", subject, _in_shape(story, "plain", clauses, is_plural(subject)))
    second = node("S", *_meanwhile(story, actor))
    return [first, leaf(",", ","), leaf("CC", "and"), second]


def _happening(story: Story, steps: Sequence[str], *, final: bool) -> list[Node]:
    """`The crowd claps as the musician plays a slow song.`"""
    story.last = None
    subject, predicate = _event(story)
    lasting = [line for line in steps if line.startswith("*")]
    if not lasting or story.rng.random() < 0.25:
        return [*_front(story, final=final), subject, predicate]
    someone = _mention(story, story.lead, by_pronoun=False)
    clauses = [_clause(story, story.rng.choice(lasting), story.lead)]
    doing = _in_shape(story, "plain", clauses, is_plural(someone))
    clause = node("SBAR", leaf("IN", story.rng.choice(["while", "as"])), node("S", someone, doing))
    return [subject, Node("VP", (*predicate.children, clause))]


def _passive(story: Story, steps: Sequence[str], *, final: bool) -> list[Node]:
    """`The onion is cut into thin pieces by the woman.`"""
    rng, actor = story.rng, story.lead
    clauses = [_clause(story, line, actor) for line in steps]
    fit = [clause for clause in clauses if clause.verb in tables().passives and _done_to_the_thing(clause)]
    if not fit:
        return _deed(story, steps, final=final)
    clause = rng.choice(fit)
    subject = noun_phrase(clause.arguments[0])
    front = _front(story, final=final)
    by = f"by {_definite(story, actor)}" if rng.random() < 0.5 else ""
    rest = Clause(clause.verb, clause.particle, clause.arguments[1:], clause.lasting)
    participle = verb_phrase(rest, "VBN", by)
    if rng.random() < 0.3:
        participle = node("VP", leaf("VBG", "being"), participle)
    story.last = None
    return [*front, subject, node("VP", _be(is_plural(subject)), participle)]


def _done_to_the_thing(clause: Clause) -> bool:
    """Whether the object is definite and nothing in the clause is the subject's own."""
    owned = not {"his", "her", "their"}.isdisjoint(" ".join(clause.arguments).split())
    return clause.arguments[0].startswith("the ") and not owned


def _camera(story: Story, *, final: bool) -> list[Node]:
    """What the camera does, or how the video ends."""
    rng = story.rng
    if final and rng.random() < 0.5:
        someone = noun_phrase(_definite(story, story.lead))
        doing = verb_phrase(_clause(story, rng.choice(tables().closings), story.lead), "VBG")
        scene = node("S", someone, doing)
        return [
            noun_phrase("the video"),
            node("VP", leaf("VBZ", "ends"), node("PP", leaf("IN", "with"), scene)),
        ]
    story.last = None
    front = _front(story, final=final)
    shot = _shot(story)
    verb, way = rng.choice([("zooms", "in on"), ("moves", "to"), ("pans", "over to"), ("shows", "")])
    target = node("PP", leaf("IN", way.split()[-1]), shot) if way else shot
    particle = node("PRT", leaf("RP", way.split()[0])) if " " in way else None
    return [*front, noun_phrase("the camera"), node("VP", leaf("VBZ", verb), particle, target)]


def _shot(story: Story, *, alone: bool = False) -> Node:
    """A noun phrase for what the camera shows; alone it makes a caption without a verb."""
    text = _choose(story, _untold(story, story.scene.shots))
    view = story.rng.choice(["a close-up of ", "another view of ", "a last look at "]) if alone else ""
    return noun_phrase(view + text)


# ---- Predicates ----------------------------------------------------------------------------------


def _predicate(story: Story, actor: Person, clauses: list[Clause], plural: bool) -> Node:
    """The main verb phrase in one of the shapes that its clauses allow, perhaps with more at its end."""
    rng, first = story.rng, clauses[0]
    alone = len(clauses) == 1
    shapes = {"plain": 26.0, "progressive": 5.0, "seen": 2.0}
    if not _rare_forms().isdisjoint(inflect(clause.verb, "VBG") for clause in clauses):
        shapes = {"plain": 1}
    elif alone and first.lasting:
        shapes = {"plain": 8, "progressive": 7, "seen": 3, "continues": 4}
        if first.verb not in tables().states:
            shapes |= {"starts": 9} if plural else {"begins": 5, "starts": 4}
    shape = rng.choices([*shapes], [*shapes.values()])[0]
    tail: list[Node] = []
    adverb = ""
    if alone and first.lasting and rng.random() < 0.3:
        tail = [_while(story, actor)]
    elif len(clauses) < 3 and rng.random() < 0.06:
        manner = _clause(story, rng.choice(tables().manners), actor)
        tail = [leaf(",", ","), node("S", verb_phrase(manner, "VBG"))]
    elif alone and _takes_manner(first) and rng.random() < 0.15:
        adverb = _manner(story)
    whole = _in_shape(story, shape, clauses, plural, adverb)
    return Node("VP", (*whole.children, *tail))


def _in_shape(story: Story, shape: str, clauses: list[Clause], plural: bool, adverb: str = "") -> Node:
    """The clauses joined into one verb phrase: plain, `is doing`, `is seen doing`, `begins to do` and so on.

    A verb whose bare form is rare takes another shape: `they are doing`, `she starts doing`.
    """
    rng = story.rng
    common = _rare_forms().isdisjoint(clause.verb for clause in clauses)
    if shape == "plain" and (common or not plural):
        return _joined(story, clauses, _finite(plural), adverb)
    doing = _joined(story, clauses, "VBG", adverb)
    if shape in {"plain", "progressive"}:
        return node("VP", _be(plural), doing)
    if shape == "seen":
        seen = node("VP", leaf("VBN", "seen"), node("S", doing))
        if rng.random() < 0.25:
            return node("VP", leaf("MD", "can"), node("VP", leaf("VB", "be"), seen))
        if rng.random() < 0.3:
            seen = node("VP", leaf("VBN", "shown"), node("S", doing))
        return node("VP", _be(plural), seen)
    if not common and shape != "continues":
        shape = "starts"
    verb = leaf(_finite(plural), shape.removesuffix("s") if plural else shape)
    if shape == "starts" or not common or (shape == "continues" and rng.random() < 0.4):
        return node("VP", verb, node("S", doing))
    bare = _joined(story, clauses, "VB", adverb)
    return node("VP", verb, node("S", node("VP", leaf("TO", "to"), bare)))


def _be(plural: bool) -> Node:
    return leaf("VBP", "are") if plural else leaf("VBZ", "is")


def _takes_manner(clause: Clause) -> bool:
    """Whether the clause goes with `slowly` or `carefully`: it is done to some definite thing."""
    return clause.verb not in tables().states and " ".join(clause.arguments).startswith("the ")


def _joined(story: Story, clauses: list[Clause], form: str, adverb: str = "") -> Node:
    """One verb phrase, or several under one: `picks up the knife and slices the onion`."""
    rng = story.rng
    if len(clauses) == 1:
        return verb_phrase(clauses[0], form, adverb)
    clauses = [clauses[0], *(_refer_back(clauses[0], clause) for clause in clauses[1:])]
    if len(clauses) == 2 and rng.random() < 0.15:
        doing = verb_phrase(clauses[1], "VBG")
        first = verb_phrase(clauses[0], form)
        return Node("VP", (*first.children, node("PP", leaf("IN", "before"), node("S", doing))))
    phrases = [verb_phrase(clause, form) for clause in clauses]
    parts = [phrases[0]]
    for phrase in phrases[1:-1]:
        parts += [leaf(",", ","), phrase]
    if len(phrases) > 2:
        parts.append(leaf(",", ","))
    then = node("ADVP", leaf("RB", "then")) if rng.random() < 0.2 else None
    return node("VP", *parts, leaf("CC", "and"), then, phrases[-1])


_MORE_PEOPLE = ("customer", "client", "crowd", "camera")
"""Nouns beside those with a gender that no `it` stands for."""


def _refer_back(first: Clause, second: Clause) -> Clause:
    """The second clause with `it`, `them` or `its` for the thing that the first is done to."""
    if not first.arguments or constituent(first.arguments[0]).label != "NP":
        return second
    thing = re.sub(r"^(?:a|an|the|some|another)\s", "", first.arguments[0].split(" of ")[0])
    noun = thing.split()[-1]
    if " 's " in thing or noun in tables().genders or noun in _MORE_PEOPLE:
        return second
    pronoun = "them" if is_plural_noun(noun) else "it"
    possessive = tables().pronouns["they" if pronoun == "them" else "it"][1]
    arguments = []
    for text in second.arguments:
        text = re.sub(rf"^((?:(?!of)\w+ )?)the (?:\w+ )?{noun}$", rf"\1{pronoun}", text)
        arguments.append(re.sub(rf"\bthe {noun} 's\b", possessive, text))
    return Clause(second.verb, second.particle, tuple(arguments), second.lasting)


def _while(story: Story, actor: Person) -> Node:
    """What ends a lasting clause: `as the crowd claps`, `while talking to the camera`."""
    rng = story.rng
    if rng.random() < 0.4:
        return _while_doing(story, actor)
    return node("SBAR", leaf("IN", rng.choice(["while", "as"])), node("S", *_meanwhile(story, actor)))


def _while_doing(story: Story, actor: Person) -> Node:
    """`while talking to the camera`"""
    manner = verb_phrase(_clause(story, story.rng.choice(tables().manners), actor), "VBG")
    return node("SBAR", leaf("IN", "while"), node("S", manner))


def _meanwhile(story: Story, actor: Person) -> list[Node]:
    """A clause, subject and predicate, of someone else or of a thing; the subject of the story stays."""
    rng = story.rng
    other = story.other
    if other is not None and actor is story.lead and rng.random() < 0.5:
        line = _side(story)
        subject = _mention(story, other, by_pronoun=False)
        story.last = actor
        return [subject, verb_phrase(_clause(story, line, other), _finite(is_plural(subject)))]
    return list(_event(story))


def _event(story: Story) -> tuple[Node, Node]:
    """Subject and predicate of something that happens by itself."""
    line = _choose(story, _untold(story, story.scene.events))
    subject_text, rest = line.split("|", 1)
    subject = noun_phrase(subject_text.strip())
    return subject, verb_phrase(_parsed(rest), _finite(is_plural(subject)))


def _side(story: Story) -> str:
    """A line for the second person."""
    return _untold(story, story.scene.sides * 2 + tables().general_sides)


def _untold(story: Story, lines: Sequence[str]) -> str:
    """One of the lines; one that the story has not used while there are any."""
    lines = [line for line in lines if story.late or not line.startswith("+")]
    line = story.rng.choice([line for line in lines if line not in story.told] or lines)
    story.told.append(line)
    return line.removeprefix("+ ")


# ---- What stands before the subject --------------------------------------------------------------


def _front(story: Story, *, final: bool) -> list[Node]:
    """Nothing, an adverbial (`After a while,`), a place, or a subordinate clause (`As the crowd claps,`)."""
    rng = story.rng
    kind = rng.choices(["none", "adverb", "place", "clause"], [67, 20, 5, 8])[0]
    comma = leaf(",", ",")
    if kind == "adverb":
        opener = rng.choice(tables().openers + ("finally",) * 2 * final)
        if opener.startswith("after"):
            return [constituent(opener), comma]
        phrase = node("ADVP", *(leaf("RB", word) for word in opener.split()))
        return [phrase, comma] if opener != "then" or rng.random() < 0.5 else [phrase]
    if kind == "place":
        return [_place(story), comma]
    if kind == "clause":
        clause = node("SBAR", leaf("IN", rng.choice(["as", "while"])), node("S", *_event(story)))
        return [clause, comma]
    return []


def _gerund_clause(story: Story, line: str, actor: Person) -> list[Node]:
    """`After washing the onion,`"""
    doing = verb_phrase(_clause(story, line, actor), "VBG")
    return [node("PP", leaf("IN", "after"), node("S", doing)), leaf(",", ",")]


def _place(story: Story) -> Node:
    return constituent(story.rng.choice(story.scene.places))


# ---- People --------------------------------------------------------------------------------------


def _actor(story: Story) -> Person:
    """Who acts next: mostly the lead, sometimes the other, sometimes both together."""
    lead, other, roll = story.lead, story.other, story.rng.random()
    if other is None or roll < 0.66:
        return lead
    if other in story.seen and not lead.plural and roll > 0.9:
        return Person("two", True, "they", "", "")
    return other


def _introduce(story: Story, person: Person) -> Node:
    """First mention: `a young woman in a red coat`, `another man`, `two boys`."""
    first = "another" if person.also else person.count or "a"
    phrase = noun_phrase(" ".join(filter(None, [first, person.age, person.noun])))
    story.seen.append(person)
    story.last = person
    if not person.look or person.count == "a group of":
        return phrase
    if person.look.startswith("in ") and story.rng.random() < 0.4:
        wearing = node("VP", leaf("VBG", "wearing"), noun_phrase(person.look.removeprefix("in ")))
        return node("NP", phrase, wearing)
    return node("NP", phrase, constituent(person.look))


def _mention(story: Story, person: Person, *, by_pronoun: bool = True) -> Node:
    """The next mention: an introduction, a pronoun where it can mean only one, or a definite noun phrase."""
    rng = story.rng
    if person.noun == "two":
        story.last = person
        return noun_phrase(rng.choice(["they", "they", "the two", "both of them"]))
    if person not in story.seen:
        return _introduce(story, person)
    same = [p for p in story.seen if p.pronoun == person.pronoun]
    clear = story.last is person or (same == [person] and story.last is not None)
    story.last = person
    if by_pronoun and clear and rng.random() < 0.55:
        return noun_phrase(person.pronoun)
    phrase = noun_phrase(_definite(story, person))
    garment = person.look.removeprefix("in ").replace("a ", "the ", 1)
    roll = rng.random()
    if not person.look.startswith("in ") or person.plural or roll < 0.8:
        return phrase
    if roll < 0.93:
        return node("NP", phrase, constituent(f"in {garment}"))
    wears = node("VP", leaf("VBZ", "wears"), noun_phrase(garment))
    return node("NP", phrase, node("SBAR", node("WHNP", leaf("WP", "who")), node("S", wears)))


def _definite(story: Story, person: Person) -> str:
    """`the woman`, sometimes `the young woman`; `the other man`; `the two boys`."""
    if person.also:
        return f"the other {person.noun}"
    if person.count in {"two", "three"} and story.rng.random() < 0.4:
        return f"the {person.count} {person.noun}"
    if any(someone.also for someone in story.seen) and person is story.lead:
        return f"the first {person.noun}"
    age = person.age if story.rng.random() < 0.25 else ""
    return f"the {age} {person.noun}" if age else f"the {person.noun}"


# ---- From the tables -----------------------------------------------------------------------------


def _clause(story: Story, line: str, actor: Person) -> Clause:
    """A line with its choices made and its pronouns set for the one who acts."""
    return _parsed(_choose(story, line, actor))


def _choose(story: Story, line: str, actor: Person | None = None) -> str:
    """The line with slots filled, alternatives and options drawn, braces resolved (see `scenes.toml`)."""
    rng, lead = story.rng, story.lead
    line = re.sub(r"<(\w+)>", lambda m: story.slots[m[1]], line)
    line = re.sub(r"\[([^]]*)\]", lambda m: rng.choice(m[1].split("/")), line)
    line = re.sub(r"\(([^)]*)\)", lambda m: m[1] if rng.random() < 0.6 else "", line)
    if "{lead}" in line:
        differs = actor is not None and actor.pronoun != lead.pronoun
        clear = story.last is lead or (differs and rng.random() < 0.5)
        line = line.replace("{lead}", tables().pronouns[lead.pronoun][0] if clear else _definite(story, lead))
    return line if actor is None else line.replace("{his}", tables().pronouns[actor.pronoun][1])


def _parsed(line: str) -> Clause:
    head, *arguments = (part.strip() for part in line.split("|"))
    verb, _, particle = head.lstrip("* ").partition(" ")
    return Clause(verb, particle, tuple(filter(None, arguments)), head.startswith("*"))


def _manner(story: Story) -> str:
    return story.rng.choice(story.scene.adverbs)


def _finite(plural: bool) -> str:
    return "VBP" if plural else "VBZ"


def _in_order(rng: random.Random, lines: Sequence[str], n: int) -> list[str]:
    """Some of the lines, in their order."""
    return [lines[i] for i in sorted(rng.sample(range(len(lines)), min(n, len(lines))))]
