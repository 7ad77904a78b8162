"""NLVR2: a sentence that is true or false of a pair of images (Suhr et al. 2019), and contrast sets of it (Gardner et
al. 2020).

`dev-850-0-1` is sentence 1 with pair 0 of set 850 of the split dev. Its contrast set is `dev-850-1`, the sentence with
all of its pairs: NLVR2's consistency counts a sentence whose every label is met. A fifth field numbers the edits of an
example: `test1-769-1-0-1` is a contrast to `test1-769-1-0`, which names the contrast set, and which is found where its
own file is read, too (`contrast.with_originals`). The set of eight images, `dev-850`, is the group.
"""

import re
from collections.abc import Mapping

from swag_af.data.errors import RowError, told
from swag_af.data.instances.layouts.layout import Layout, one_each
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.tables.sources import Record

_IDENTIFIER = re.compile(r"(?P<images>[^-]+-\d+)-(?P<pair>\d+)-(?P<sentence>\d+)(?:-(?P<edit>\d+))?")


def _identified(record: Record) -> Record:
    found = _IDENTIFIER.fullmatch(str(record.get("identifier")))
    if not found:
        raise RowError(
            f"has {told(record.get('identifier'))} under identifier, where SPLIT-SET-PAIR-SENTENCE is due, and behind "
            "it the number of an edit"
        )
    images = found["images"]
    original = f"{images}-{found['pair']}-{found['sentence']}"
    urls = [record.get("left_url"), record.get("right_url")]
    return {
        **record,
        "image set": images,
        "images": " ".join(map(str, urls)) if all(urls) else f"{images}-{found['pair']}",
        "sentence set": original if found["edit"] else f"{images}-{found['sentence']}",
        "variant": "contrast" if found["edit"] else "",
    }


def _made(record: Record) -> Mapping[str, str]:
    urls = ("left_url", "right_url")
    images = " and ".join(urls) if all(record.get(name) for name in urls) else "identifier"
    return dict.fromkeys(("image set", "sentence set", "variant"), "identifier") | {"images": images}


NLVR2 = Layout(
    "nlvr2",
    ("sentence", "identifier", "label"),
    "classes",
    InstanceColumns(
        text_column="sentence",
        premise_column="",
        video_column="image set",
        media_column="images",
        contrast_set_column="sentence set",
        variant_column="variant",
    ),
    one_each(_identified),
    reads=("left_url", "right_url"),
    made=_made,
)
