"""The word tables of the sample grammar: what can be seen, who does it, in which order. Nothing runs here.

A line of `openings`, `steps`, `sides` or `events` is one clause, its parts between bars: the verb (with its
particle), then noun phrases, prepositional phrases and adverbs. `*` marks a clause that lasts: it can begin,
continue, go on while something else happens. Inside a line

    <pot>            the video's value of a slot, the same in all its captions
    [thin/small]     one of these, drawn anew in each sentence
    (with a spoon)   there or not
    {his}            the subject's own pronoun
    {lead}           the person whom the video is about

`steps` stand in the order in which they can happen: a video walks down the list and never back. `events`
begin with their own subject. Articles are written `a`; the grammar makes `an` of them. A scene keeps to about
twenty steps and shares its verbs with other scenes where it can, so that 800 videos hold few rare words.
"""

from dataclasses import dataclass


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Scene:
    """One kind of video: its people, things and doings. Lists are comma-separated, clauses one a line."""

    name: str
    leads: str
    """Whom the video is about, when one person; a noun written twice is drawn twice as often."""
    groups: str
    """The same, several persons; empty when the scene wants one person."""
    others: str
    """Who may join later."""
    wear: str
    """Garments the people of this scene can wear."""
    places: str
    """Prepositional phrases that may open a sentence."""
    adverbs: str
    slots: dict[str, str]
    openings: str
    """First captions: states that last. The subject is introduced here."""
    steps: str
    sides: str
    """What a second person does; all of them last."""
    events: str
    """What things, animals and crowds do meanwhile; `+` marks what does not happen in the first half."""
    shots: str
    """Noun phrases for captions without a verb; `+` as in events."""


PRONOUNS = {  # subject form: object, possessive
    "he": ("him", "his"),
    "she": ("her", "her"),
    "it": ("it", "its"),
    "they": ("them", "their"),
}
GENDERS = {"man": "he", "boy": "he", "woman": "she", "girl": "she"}
"""Nouns that fix the pronoun; any other is drawn for the video."""
PLURALS_WITHOUT_S = _set("men women children people feet")
MEMBERS = {"men": "man", "women": "woman", "children": "boy, girl"}
"""Groups and the nouns of those in them, where taking off an -s is not enough."""
SINGULARS_IN_S = _set("canvas")
"""A word in -ss is taken for a singular without being listed."""
AGES = {
    "man": "young, old, tall, bald",
    "woman": "young, old, tall, blonde",
    "boy": "young, little, small",
    "girl": "young, little, small",
    "men": "young, old",
    "women": "young, old",
    "boys": "young, little",
    "girls": "young, little",
    "children": "young, little",
}
LOOKS = "with short hair, with dark hair, with glasses"
COLORS = "red, blue, green, black, white, yellow, gray, pink, orange"
COUNTS = "two, two, three, several, a group of"

NUMBERS = _set("one two three")
DETERMINERS = _set("a an the some another both all")
PREPOSITIONS = _set(
    """in on at of with from into onto over under across along through around behind beside by near down up
    toward for to off out above after before past"""
)
PARTICLES = _set("up down out off on in over")
ADVERBS = _set(
    """away back together again slowly carefully quickly gently happily calmly loudly smoothly steadily
    closely around"""
)
ADJECTIVES = _set(
    """young old tall bald blonde little small red blue green black white yellow gray pink orange long
    short dark other several wooden sharp hot wet dry clean large thin warm finished bright narrow fresh
    soft heavy big round open empty final deep flat high new quiet busy sandy snowy sunny steep loose
    quick slow last same first"""
)
STATES = _set("stand sit lie wait hold lean hang rest help film kneel look")
"""Verbs that nobody begins to do, or does carefully."""
PASSIVES = _set("put take fill cut wash pull press carry")
"""Verbs (with an object) of the few passive sentences."""

GENERAL_OPENINGS = """
*talk | to the camera | in <room>
*speak | to the camera | in <room>
*look | at a <thing>
"""
GENERAL_SIDES = """
*watch | {lead} | (closely)
*stand | beside {lead}
*talk | to {lead}
*smile | at {lead}
*film | {lead} | [with a phone/from the side]
*wait | [behind/near] {lead}
*help | {lead}
"""
MANNERS = """
*smile | at the camera
*talk | to the camera
*laugh
"""
CLOSINGS = """
smile | at the camera
wave | to the camera
walk | away | (from the camera)
turn | to the camera
step | back
nod
give | the camera | a quick wave
take | a final look | at the <thing>
"""
OPENERS = "then, next, now, soon, after a while, after that, later, after a moment"

SCENES = (
    Scene(
        name="kitchen",
        leads="chef, woman, man, girl, boy",
        groups="women, men, children",
        others="man, woman, girl, boy, chef",
        wear="apron, shirt, sweater, cap",
        places="in the kitchen, at the counter",
        adverbs="slowly, carefully, quickly",
        slots={
            "room": "a kitchen, a small kitchen, a bright kitchen",
            "thing": "recipe, pot",
            "food": "onion, carrot, potato, pepper, tomato",
            "pan": "pan, pot",
            "sauce": "sauce, soup",
        },
        openings="""
*stand | behind a [long/white/wooden] counter | (in a [small/bright] kitchen)
*stand | in a [small/bright] kitchen | with several [bowls/pans]
*lean | over a counter | in <room>
*point | at the food | on the counter
""",
        steps="""
take | a <food> | out of the fridge
wash | the <food> | [under the tap/in the sink]
dry | {his} hands | on a [clean/white] towel
pick up | a [sharp/small] knife | (from the counter)
*peel | the <food> | (over the sink)
*slice | the <food> | into [thin/small] pieces
pour | [some/a little] oil | into a hot <pan>
add | the <food> | to the <pan>
break | two eggs | into a [small/white] bowl
*mix | the eggs | with a fork
sprinkle | some salt | over the eggs
*stir | the <sauce> | with a [wooden/large] spoon
turn down | the heat
taste | the <sauce> | (with a spoon)
pour | the <sauce> | over the <food>
turn off | the stove
put | the food | on a [white/large] plate
wipe | the counter | with a [wet/clean] cloth
set | the plate | on the table
*eat | the food | (with a fork)
hold up | the empty plate
""",
        sides="""
*set | the table | (near the window)
*wash | the bowls | in the sink
*hold | the recipe | (for {lead})
""",
        events="""
the water | boil | in the <pan>
+ the oil | sizzle | in the <pan>
the steam | rise | from the <pan>
+ the <sauce> | cook | on the stove
""",
        shots="""
+ the finished food on a white plate
+ the <food> in the hot <pan>
the <sauce> on the stove
""",
    ),
    Scene(
        name="playground",
        leads="boy, girl, boy, girl",
        groups="children, boys, girls",
        others="boy, girl, woman, man",
        wear="shirt, jacket, cap, sweater",
        places="at the playground, in the park",
        adverbs="quickly, happily, slowly",
        slots={
            "room": "a park, a playground, a busy playground",
            "thing": "slide, swing",
            "toy": "ball, toy plane, toy truck",
        },
        openings="""
*play | [in/at] <room>
*stand | at the [top/bottom] of a [high/yellow] slide
*sit | on a swing | in <room>
*run | around <room>
""",
        steps="""
*run | across the [grass/playground] | (to the swings)
climb | up the steps | (to the slide)
sit down | at the top of the slide
slide | down | [quickly/to the ground]
land | in the [sand/grass] | (at the bottom)
jump | to {his} feet
climb | onto the swing
*swing | [high above the ground/over the sand]
jump | off the swing
pick up | a <toy> | from the [sand/grass]
carry | the <toy> | across the playground
*play | with the <toy> | in the sand
throw | the <toy> | into the air
catch | the <toy> | with both hands
*dig | a hole | in the sand
fill | the hole | with [sand/water]
*hang | from the [bars/rope] | (by {his} hands)
fall | [onto/into] the soft grass
brush | the sand | off {his} [legs/knees]
drink | some water | from a bottle
*sit | on a bench | (under a tree)
*walk | back | to the [bench/gate]
""",
        sides="""
*push | {lead} | on the swing
*chase | {lead} | around the [bars/slide]
*sit | on a bench | near the [slide/gate]
*hold | {lead} | by the hand
""",
        events="""
the other children | run | past the [swings/slide]
the swings | move | in the wind
a dog | bark | near the gate
the leaves | fall | on the grass
""",
        shots="""
the empty swings in the park
the other children near the slide
the <toy> in the sand
""",
    ),
    Scene(
        name="gym",
        leads="man, woman, man, woman, trainer",
        groups="men, women, girls, boys",
        others="man, woman, trainer, trainer",
        wear="shirt, vest, cap",
        places="in the gym, on the mat",
        adverbs="slowly, steadily, quickly",
        slots={
            "room": "a gym, a large gym, a quiet gym",
            "thing": "machine, bar",
            "weight": "bar, weight, kettlebell",
            "gear": "rope, ball",
        },
        openings="""
*stand | in front of a mirror | in <room>
*stand | on a [blue/black] mat | (in <room>)
*sit | on a [machine/bench] | in <room>
*stretch | {his} arms | in <room>
""",
        steps="""
walk | [to/toward] a [rack/mirror] | (in the corner)
*stretch | {his} legs | on the mat
*run | on a machine
wipe | {his} hands | with a [white/dry] towel
kneel | beside the <weight>
grab | the <weight> | with both hands
lift | the <weight> | off the [floor/mat]
push | the <weight> | into the air
*hold | the <weight> | with both hands
lower | the <weight> | to the floor
drop | the <weight> | [on/onto] the mat
pick up | a <gear> | from the [rack/corner]
*pull | the <gear> | across the mat
put | the <gear> | back | (on the rack)
lie down | on a [bench/mat]
*do | several push ups | on the [mat/floor]
raise | {his} legs | off the floor
*jump | over a [small/wooden] box
sit up | on the [bench/mat]
drink | some water | from a bottle
pick up | a towel | from the bench
""",
        sides="""
*count | for {lead} | (loudly)
*point | at the mirror
*lift | a heavy weight | near the mirror
""",
        events="""
the music | play | in the gym
the other people | train | on the machines
the clock | tick | on the wall
""",
        shots="""
+ the <weight> on the floor of the gym
the empty mat in the corner
a row of machines near the mirror
""",
    ),
    Scene(
        name="workshop",
        leads="man, woman, carpenter, carpenter",
        groups="men, women, boys",
        others="man, woman, boy, carpenter",
        wear="shirt, apron, cap",
        places="in the workshop, at the bench",
        adverbs="carefully, slowly, steadily",
        slots={
            "room": "a workshop, a dark workshop, a small workshop",
            "thing": "saw, board",
            "piece": "chair, shelf, box",
            "color": "white, blue, green",
        },
        openings="""
*stand | [behind/beside] a [heavy/wooden] bench | (in <room>)
*look | at a [long/wooden] board | in <room>
*point | at the tools | on the wall
*lean | on a [wooden/heavy] bench | in <room>
""",
        steps="""
put on | a pair of gloves
take | a [long/flat] board | from the wall
put | the board | on the bench
measure | the board | with a ruler
draw | a line | [on/across] the board | (with a pencil)
turn on | the saw
*saw | the board | in half
*saw | along the [line/pencil line]
*rub | the edge of the board | with sandpaper
blow | the dust | off the board
make | two holes | in the board | with a drill
spread | some glue | [on/along] the edge
press | the pieces | together | (by hand)
fasten | the pieces | with a clamp
tighten | the screws
turn over | the <piece>
*rub | the <piece> | with a soft cloth
dip | a brush | into the [<color> paint/paint]
*paint | the <piece> | (with <color> paint)
hang up | the [tools/brush] | (on the wall)
*sweep | the [dust/floor] | with a broom
carry | the <piece> | out of the workshop
""",
        sides="""
*hold | the [board/saw] | for {lead}
*pass | {lead} | the saw
*look | for the screws | (on the shelf)
""",
        events="""
+ the dust | fly | through the air
the saw | hum | on the bench
+ the paint | dry | on the <piece>
the radio | play | on the shelf
""",
        shots="""
+ the finished <piece> on the bench
the tools on the wall of the workshop
a can of <color> paint
""",
    ),
    Scene(
        name="lake",
        leads="man, woman, boy, girl",
        groups="men, women, boys, girls",
        others="man, woman, boy, girl, guide",
        wear="vest, hat, jacket, shirt",
        places="on the lake, at the dock",
        adverbs="slowly, quickly, steadily",
        slots={
            "room": "a cabin, a boat, a small boat",
            "thing": "paddle",
            "boat": "canoe, boat, raft",
            "spot": "island, rocks, bridge",
        },
        openings="""
*stand | on [a/the] [wooden/narrow] dock | (by a lake)
*sit | in a [narrow/red/yellow] <boat> | on a lake
*carry | a <boat> | [toward/to] a lake
*look | across a [quiet/deep] lake
""",
        steps="""
take | the rope | off the dock
push | the <boat> | [off the dock/into the water]
step | into the <boat> | (from the dock)
pick up | a [long/wooden] paddle
*paddle | [across/along] the lake
*row | toward the <spot>
*splash | some water | with the paddle
pass | [under/by] the [branches/<spot>]
throw | a fishing line | into the [water/lake]
*wait | for a fish | (in the <boat>)
pull | a [big/small] fish | out of the water
drop | the fish | [into a bucket/back into the water]
lean | over the [side/edge] of the <boat>
jump | out of the <boat> | into the water
*swim | around the <boat>
climb | back | into the <boat>
dry | {his} hair | with a [towel/blue towel]
turn | the <boat> | around
*paddle | back | to the [dock/shore]
tie | the rope | to a post
pull | the <boat> | onto the [sand/shore]
""",
        sides="""
*point | at the [birds/<spot>]
*sit | behind {lead} | in the <boat>
*push | the <boat> | [past/toward] the <spot>
*swim | near the <boat>
""",
        events="""
+ the <boat> | rock | on the waves
the birds | fly | [over/across] the lake
the waves | hit | the [dock/shore]
the sun | shine | on the water
""",
        shots="""
the <boat> on the quiet lake
the birds above the water
a view of the <spot>
""",
    ),
    Scene(
        name="street music",
        leads="man, woman, musician, boy, girl",
        groups="musicians, men, women",
        others="man, woman, dancer, girl, boy",
        wear="hat, jacket, shirt",
        places="on the street, in the square",
        adverbs="loudly, happily, calmly, slowly",
        slots={
            "room": "a station, a square, a busy square",
            "thing": "guitar, crowd",
            "horn": "guitar, violin",
        },
        openings="""
*stand | on a [busy/narrow] street | with a <horn>
*sit | on a [box/chair] | in <room>
*play | a <horn> | [in <room>/on the street]
*carry | a <horn> | across <room>
""",
        steps="""
put | a [hat/box] | on the ground
open | the case | of the <horn>
take | a <horn> | out of [the/a] case
turn on | a [microphone/speaker]
*play | a [slow/quick] song | on the <horn>
*sing | a [slow/quick] song | into the microphone
close | {his} eyes | for a moment
*dance | around the [microphone/speaker]
play | the last notes | of the song
bow | to the crowd
thank | the crowd | (for the money)
play | the same song | again
*shake | hands | with the people
count | the [money/coins] | in the [hat/box]
put | the <horn> | back | [into/in] the case
close | the case | of the <horn>
pack up | the [microphone/speaker]
*walk | down the street | with the <horn>
""",
        sides="""
*dance | in front of {lead}
*drop | some [coins/money] | into the [hat/box]
*sing | with {lead}
""",
        events="""
+ the crowd | clap | [along/to the music]
the people | stand | around {lead}
the cars | drive | past the [square/crowd]
+ the music | echo | [across the square/down the street]
""",
        shots="""
+ the crowd on the busy street
+ some coins in a hat
the <horn> in the open case
""",
    ),
    Scene(
        name="garden",
        leads="woman, man, gardener, girl, boy",
        groups="women, children, men",
        others="man, woman, boy, girl, gardener",
        wear="hat, shirt, sweater, apron",
        places="in the garden, behind the house",
        adverbs="carefully, gently, slowly",
        slots={
            "room": "a garden, a yard",
            "thing": "plant, shovel",
            "plant": "rose, tree, bush",
            "crop": "beans, pumpkins, berries",
        },
        openings="""
*kneel | in a garden | (behind a house)
*stand | near [two/three] rows of <crop>
*push | a wheelbarrow | through a garden
*hold | a [small/green] plant | in <room>
""",
        steps="""
put on | a pair of gloves
open | the [gate/shed]
push | the wheelbarrow | [along/down] the path
take | a shovel | from the shed
*sweep | the dry leaves | (off the path)
*pull | the weeds | out of the [soil/ground]
throw | the weeds | into the wheelbarrow
*dig | a [deep/small] hole | in the [soil/ground]
take | a [small/new] <plant> | out of its pot
set | the <plant> | in the hole
fill | the hole | with [dark/fresh] soil
press down | the soil | (with both hands)
fill | a can | with water
*water | the <plant> | (with a can)
turn on | the hose
*spray | the <crop> | with [the hose/water]
*trim | the <plant> | with a pair of scissors
tie | the <plant> | to a [stick/post]
pick | some fresh <crop>
drop | the <crop> | into a basket
wash off | the [dirt/soil] | (with the hose)
carry | the basket | [to/into] the house
""",
        sides="""
*water | the flowers | near the [fence/path]
*hold | the basket | for {lead}
*sit | under a tree | (in the garden)
""",
        events="""
the bees | fly | around the [flowers/<plant>]
a cat | sleep | [on/beside] the path
+ the water | run | [into the soil/along the path]
the leaves | move | in the wind
""",
        shots="""
+ the new <plant> in the soil
+ some fresh <crop> in a basket
the path through the garden
""",
    ),
    Scene(
        name="barber shop",
        leads="barber, barber, man, woman",
        groups="",
        others="barber, barber, man, woman",
        wear="shirt, vest, jacket, apron",
        places="in the shop, in front of the mirror",
        adverbs="carefully, quickly, gently, slowly",
        slots={
            "room": "a shop, a bright shop, a barber shop",
            "thing": "chair, razor",
            "client": "customer, client",
            "blade": "scissors, clippers",
        },
        openings="""
*stand | behind a [black/round] chair | in <room>
*sweep | the floor | of <room>
*comb | the hair | of a <client> | (in <room>)
*wait | for a <client> | in <room>
""",
        steps="""
walk | to the chair | with the <client>
turn | the chair | [around/toward the mirror]
spin | the chair | [around/toward the mirror]
tie | a [black/white] cape | around the <client> 's neck
spray | some water | on the <client> 's hair
*comb | the <client> 's hair | [back/to the side]
pick up | the <blade> | (from the tray)
*cut | the hair | [above/around] the <client> 's ears
*trim | the back | of the <client> 's head
*trim | the <client> 's beard | (with the <blade>)
put | the <blade> | [on/into] the tray
spread | some [foam/soap] | on the <client> 's [face/neck]
sharpen | a razor | on a strap
*shave | the <client> 's neck
wipe | the [foam/soap] | off the <client> 's face
rub | some oil | into the <client> 's hair
*dry | the <client> 's hair | (with a towel)
brush | the loose hair | [off the cape/from the chair]
hold up | a [small/round] mirror
take off | the cape
shake | the <client> 's hand
take | some money | from the <client>
*sweep | the hair | (off the floor)
""",
        sides="""
*sit | [in a chair/on a bench] | near the door
*wait | near the [door/mirror]
""",
        events="""
the <client> | look | into the mirror
the <client> | smile | at the mirror
+ the hair | fall | [to the floor/onto the cape]
+ the <blade> | move | near the <client> 's ears
the radio | play | in the [corner/shop]
""",
        shots="""
the <client> in front of the mirror
the <blade> on the tray
+ the short hair of the <client>
""",
    ),
    Scene(
        name="beach",
        leads="boy, girl, man, woman, surfer",
        groups="children, girls, boys, men, women",
        others="man, woman, boy, girl",
        wear="hat, shirt, cap",
        places="on the beach, near the water",
        adverbs="quickly, happily, slowly",
        slots={
            "room": "a beach hut",
            "thing": "wave",
            "build": "castle, tower, wall",
            "board": "surfboard, board",
        },
        openings="""
*walk | along a [sandy/sunny] beach | (with a <board>)
*sit | near the water | on a [sandy/sunny] beach
*carry | a [towel/<board>] | across a beach
*stand | on a beach | (near the waves)
""",
        steps="""
*walk | down the [path/beach] | (to the water)
spread | a towel | on the sand
open | a big umbrella
fill | a bucket | with [wet sand/water]
carry | the bucket | [to/toward] the umbrella
turn over | the bucket | (on the sand)
*build | a [tall/small] <build> | [of wet sand/out of sand]
cover | the <build> | with [shells/some shells]
*dig | a [deep/long] hole | beside the <build>
jump | on the <build>
pick up | the <board> | from the sand
*run | into the [water/waves] | with the <board>
lie down | on the <board>
*paddle | toward a [big/high] wave
stand up | on the <board>
*ride | [a/the] wave | [to/toward] the shore
fall | off the <board> | into the [water/waves]
*swim | back | to the shore
drag | the <board> | [out of the water/onto the sand]
shake | the water | out of {his} hair
dry | {his} arms | with a towel
look | for [shells/some shells] | in the sand
pick up | the [towel/umbrella]
""",
        sides="""
*throw | a ball | to {lead}
*lie | under the umbrella
*look | for shells | near {lead}
""",
        events="""
the waves | roll | [onto the sand/toward the shore]
+ the wave | break | [over/near] the <build>
the birds | walk | [along/across] the sand
the sun | shine | on the sand
""",
        shots="""
the waves on the sandy beach
+ the finished <build> near the water
a towel under the umbrella
""",
    ),
    Scene(
        name="snow",
        leads="man, woman, boy, girl, skier",
        groups="children, boys, girls, men",
        others="man, woman, boy, girl, skier",
        wear="sweater, hat, jacket",
        places="on the hill, in the snow",
        adverbs="quickly, carefully, slowly, happily",
        slots={
            "room": "a cabin, a small cabin",
            "thing": "hill, slope",
            "sled": "sled, tube",
            "mark": "tree, fence, flag",
        },
        openings="""
*stand | at the top of a [snowy/steep] [hill/slope]
*walk | up a [snowy/steep] [hill/slope] | (with a <sled>)
*play | in the [deep/fresh] snow | (near a cabin)
*drag | a <sled> | through the snow
""",
        steps="""
put on | {his} gloves
*pull | the <sled> | up the [hill/slope]
look | down the [steep/snowy] slope
sit down | on the <sled>
push off | with both feet
*slide | down the hill | [on the <sled>/past the <mark>]
turn | the <sled> | [around/past] the <mark>
bump | into the <mark>
fall | off the <sled> | into the snow
*roll | a [big/round] ball of snow
put | a [hat/scarf] | on the snowman
make | a face | with stones
throw | a snowball | at the <mark>
fasten | {his} skis | at the top
grab | two poles
*ski | [down/across] the slope
*turn | from side to side | (between the flags)
jump | over a [small/big] bump
stop | near the <mark>
take off | {his} skis
brush | the snow | off {his} [knees/sleeves]
*drink | some hot cocoa | (near the <mark>)
""",
        sides="""
*throw | some snow | at {lead}
*pull | {lead} | on the <sled>
*ski | behind {lead}
""",
        events="""
the snow | fall | [on the hill/from the sky]
a dog | run | through the snow
the wind | blow | [over/across] the slope
the <sled> | slide | (away) | down the hill
""",
        shots="""
+ the <sled> at the bottom of the hill
the fresh snow on the slope
+ the snowman near the cabin
""",
    ),
    Scene(
        name="dance studio",
        leads="woman, man, girl, dancer, boy, teacher",
        groups="girls, women, dancers, children, boys",
        others="teacher, dancer, girl, man, woman",
        wear="shirt, vest, sweater",
        places="in the studio, in front of the mirror",
        adverbs="slowly, smoothly, quickly, calmly",
        slots={
            "room": "a studio, a bright studio, a large studio",
            "thing": "mirror",
            "prop": "scarf, hoop, ribbon",
            "move": "turn, step",
        },
        openings="""
*stand | in front of a [large/long] mirror | (in <room>)
*dance | in the [middle/center] of <room>
*stretch | on the [wooden/smooth] floor | of <room>
*stand | at the bar | in <room>
""",
        steps="""
put on | {his} shoes | (near the mirror)
*stretch | {his} [arms/legs] | at the bar
turn on | the music
walk | to the [center/middle] of the floor
raise | {his} arms | into the air
*sway | from side to side
practice | a <move> | (in front of the mirror)
repeat | the <move> | with both legs
*spin | around | (on one foot)
jump | across the [floor/studio]
land | on both feet
pick up | a [red/blue/yellow] <prop>
*wave | the <prop> | [from side to side/in the air]
throw | the <prop> | into the air
catch | the <prop> | [with both hands/with one hand]
drop | to the floor | (with the <prop>)
*roll | across the floor
do | a split | on the floor
turn off | the music
bow | to the [class/audience]
take off | {his} shoes
""",
        sides="""
*dance | beside {lead}
*count | the steps | (for {lead})
*lean | on the bar | near the mirror
""",
        events="""
the music | play | in the studio
+ the audience | clap | (loudly)
the lights | change | [to red/above the floor]
the class | watch | from the [floor/wall]
""",
        shots="""
the empty floor of the studio
a row of dancers at the bar
+ the <prop> on the wooden floor
""",
    ),
    Scene(
        name="garage",
        leads="mechanic, man, woman, mechanic",
        groups="men, mechanics, boys",
        others="man, mechanic, woman, boy",
        wear="shirt, jacket, cap, vest",
        places="in the garage, under the hood",
        adverbs="carefully, quickly, slowly, steadily",
        slots={
            "room": "a garage, a dark garage, a busy garage",
            "thing": "engine, car",
            "car": "car, truck, van",
            "nut": "bolts, nuts",
        },
        openings="""
*stand | [beside/near] a [red/black/white] <car> | in <room>
*kneel | beside a <car> | (in <room>)
*lean | over the engine | of a <car>
*point | at a flat tire | in <room>
""",
        steps="""
open | the hood | of the <car>
*check | the [engine/oil] | (with a flashlight)
carry | a box of tools | (from the corner)
slide | a jack | under the <car>
raise | the <car> | with the jack
*loosen | the <nut> | (with a wrench)
pull off | the [flat/old] tire
roll | the [flat/old] tire | [away/to the wall]
lift | a new tire | onto the <car>
*tighten | the <nut> | [with a wrench/by hand]
lower | the <car> | to the ground
crawl | under the <car> | (with a flashlight)
change | the [filter/oil filter]
pour | some [new/clean] oil | into the engine
wipe | the grease | off {his} hands
close | the hood | of the <car>
start | the engine | (of the <car>)
*wash | the <car> | with a [sponge/hose]
*polish | the hood | of the <car>
drive | the <car> | out of the garage
""",
        sides="""
*hold | a flashlight | for {lead}
*pass | {lead} | a wrench
*sit | in the <car>
*lean | on the [door/wall]
""",
        events="""
+ the engine | run | [in the garage/under the hood]
the smoke | rise | from the engine
+ the lights | shine | on the hood
the radio | play | in the <car>
""",
        shots="""
+ the old tire on the ground
the engine of the <car>
a box of tools beside the <car>
""",
    ),
    Scene(
        name="pottery",
        leads="woman, man, potter, potter, girl",
        groups="women, girls, children",
        others="man, woman, teacher, girl, potter",
        wear="apron, shirt, sweater",
        places="in the studio, at the wheel",
        adverbs="slowly, gently, carefully, smoothly",
        slots={
            "room": "a studio, a quiet studio, a small studio",
            "thing": "pot, wheel",
            "pot": "bowl, vase, cup",
            "glaze": "glaze, paint",
        },
        openings="""
*sit | at a [wheel/potter 's wheel] | (in <room>)
*hold | a [ball/lump] of clay | in <room>
*stand | [near/beside] a shelf of [pots/vases]
*press | some clay | in <room>
""",
        steps="""
roll up | {his} sleeves
cut | a [ball/lump] of clay | with a wire
throw | the clay | onto the wheel
wash | {his} hands | in a bucket
*spin | the wheel | (with one foot)
*press | the clay | [with both hands/onto the wheel]
push | {his} thumbs | into the clay
pull up | the sides | of the <pot>
squeeze | a wet sponge | over the clay
scrape | the [edge/bottom] of the <pot> | (with a wire)
stop | the wheel
cut | the <pot> | off the wheel | (with a wire)
carry | the <pot> | to a [shelf/rack]
*draw | lines | on the <pot>
put | the <pot> | in the kiln
take | the <pot> | out of the kiln
dip | the <pot> | into the <glaze>
*paint | the [<pot>/edge of the <pot>] | with a thin brush
clean | the wheel | with a [wet/large] sponge
hold up | the finished <pot>
""",
        sides="""
*hold | the <pot> | for {lead}
*roll | some clay | on the table
*clean | the [tools/brushes] | in the sink
""",
        events="""
the wheel | turn | (around) | [under the clay/on the table]
the clay | dry | on the shelf
+ the <glaze> | drip | [off/down] the <pot>
the kiln | glow | in the corner
""",
        shots="""
+ the finished <pot> on a shelf
a lump of clay on the wheel
several vases in the kiln
""",
    ),
    Scene(
        name="dog in the yard",
        leads="girl, boy, woman, man",
        groups="children, boys, girls",
        others="man, woman, boy, girl",
        wear="shirt, sweater, jacket, hat",
        places="in the yard, on the grass",
        adverbs="gently, quickly, happily",
        slots={
            "room": "a yard, a house, a small yard",
            "thing": "gate",
            "dog": "dog, puppy",
            "toy": "ball, stick, frisbee",
        },
        openings="""
*stand | in a [green/small] yard | with a [brown/black/white] <dog>
*kneel | beside a [brown/black/white] <dog> | (on the grass)
*walk | a [brown/black/white] <dog> | on a leash
*hold | the leash | of a <dog>
""",
        steps="""
open | the [gate/door] | for the <dog>
take off | the <dog> 's leash
pick up | a <toy> | from the grass
show | the <toy> | to the <dog>
throw | the <toy> | across the yard
*chase | the <dog> | around a tree
take | the <toy> | out of the <dog> 's mouth
give | the <dog> | a treat
*rub | the <dog> 's [head/ears]
fill | a tub | with [warm/clean] water
lift | the <dog> | into the tub
pour | some shampoo | on the <dog>
*wash | the <dog> 's [legs/fur] | (with a brush)
rinse | the <dog> | with a hose
lift | the wet <dog> | out of the tub
*dry | the <dog> | with a [towel/big towel]
*brush | the <dog> 's fur
fill | the <dog> 's bowl | with [food/water]
put | the <dog> 's leash | back | on
*walk | the <dog> | [around the yard/down the street]
*sit | on the porch | with the <dog>
""",
        sides="""
*talk | to the <dog>
*throw | a treat | to the <dog>
*sit | on the porch | (with a cup)
""",
        events="""
the <dog> | bark | at the [<toy>/gate]
the <dog> | run | after the <toy>
the <dog> | roll | on the grass
+ the <dog> | shake | the water | off its fur
""",
        shots="""
+ the wet <dog> on the grass
the <dog> with a <toy>
the empty tub in the yard
""",
    ),
    Scene(
        name="bowling alley",
        leads="man, woman, boy, girl, bowler",
        groups="men, women, boys, girls",
        others="man, woman, boy, girl",
        wear="shirt, cap, jacket, sweater",
        places="at the bowling alley, at the end of the lane",
        adverbs="slowly, quickly, calmly",
        slots={
            "room": "a bowling alley, a busy bowling alley",
            "thing": "screen",
            "color": "red, green, orange",
            "hit": "pins, white pins",
        },
        openings="""
*stand | [in front of/at the end of] a [long/wooden] lane
*walk | along a [long/wooden] lane | in <room>
*sit | on a bench | [near/behind] a lane | (in <room>)
*wait | for a ball | in <room>
""",
        steps="""
put on | a pair of [shoes/bowling shoes]
take | a <color> ball | from the rack
polish | the <color> ball | with a [cloth/towel]
put | {his} fingers | in the [holes/ball]
step | up | to the line
swing | the ball | back
*run | toward the [line/lane] | (with the ball)
roll | the <color> ball | [down the lane/toward the pins]
throw | the ball | [down/along] the lane
miss | the <hit>
knock down | all the pins
jump | up and down | (near the lane)
give | {his} friend | a high five
*wait | for the ball | (beside the rack)
pick up | the <color> ball | again
bowl | a strike
look | up | at the [score/screen]
write down | the final score
*eat | some fries | (at the table)
take off | {his} shoes
""",
        sides="""
*point | at the screen
*eat | some fries | on the bench
*pick up | a ball | (behind {lead})
""",
        events="""
the music | play | in the bowling alley
the lights | change | above the [pins/lane]
+ the ball | roll | down the lane
+ the pins | fall | over
+ the machine | lift | the pins
+ the score | change | on the screen
""",
        shots="""
the <hit> at the end of the lane
+ the final score on the screen
the <color> ball on the rack
""",
    ),
    Scene(
        name="painting",
        leads="woman, man, artist, artist, girl, boy",
        groups="children, women, girls",
        others="man, woman, teacher, girl, boy",
        wear="apron, shirt, sweater",
        places="in the art room, at the easel",
        adverbs="slowly, carefully, smoothly, calmly",
        slots={
            "room": "an art room, a sunny room, a quiet room",
            "thing": "picture, canvas",
            "view": "house, horse, river",
            "color": "blue, green, red, yellow",
        },
        openings="""
*sit | in front of a [large/white] canvas | (in <room>)
*stand | at an easel | [near a window/in <room>]
*hold | a [thin/large] brush | in <room>
*show | a box of [paints/brushes] | to the camera
""",
        steps="""
set | a [large/white/new] canvas | on the easel
open | a [box/tube] of paint
squeeze | some <color> paint | onto a [palette/plate]
sharpen | a pencil
*draw | a <view> | [on the canvas/with a pencil]
pick up | a [thin/large] brush
dip | the brush | into the <color> paint
*mix | the paints | on the palette
cover | the canvas | with <color> paint
*paint | the sky | [above/behind] the <view>
*paint | a <view> | in the middle of the canvas
add | some clouds | to the picture
wash | the brush | in a cup of water
*fill | the corner | with small lines
wipe | some paint | off {his} [hands/fingers]
take | a step | back | from the easel
*look | at the picture | for a moment
sign | the picture | (in the corner)
take | the canvas | off the easel
hang | the picture | on the wall
clean up | the [brushes/table]
""",
        sides="""
*draw | a [horse/house] | at the table
*clean | the table | (near the window)
*wash | the brushes | in the sink
""",
        events="""
+ the paint | drip | [down the canvas/onto the floor]
the sun | shine | on the [canvas/easel]
+ the paint | dry | on the [palette/canvas]
a clock | tick | on the wall
""",
        shots="""
+ the finished picture on the easel
the <color> paint on the palette
a picture of a <view>
""",
    ),
)
