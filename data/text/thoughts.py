"""What a language model thinks aloud before it answers: `<think> ... </think>`."""

import re

_MARKS = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def without_thoughts(text: str) -> str:
    """`text` from the end of what the model thinks aloud on; what stands before it where it has no end."""
    marks = list(_MARKS.finditer(text))
    if not marks:
        return text
    return text[marks[-1].end() :] if marks[-1][1] else text[: marks[0].start()]
