"""A command of ours, written so that it can be pasted into a shell. Runs none."""

import shlex

from swag_af.data.urls import as_told


def command(*words: object) -> str:
    """`swag-af` and these words, each quoted where a shell would read it otherwise; addresses in place of mirrors.

    `command("show", Path("my run"))` is `swag-af show 'my run'`.
    """
    return shlex.join(["swag-af", *(as_told(str(word)) for word in words)])
