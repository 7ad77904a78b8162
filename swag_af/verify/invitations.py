"""The verb `verify invite`: signed links for annotators; `verify serve --invited-only` lets in by these alone."""

import csv
import secrets
from pathlib import Path
from urllib.parse import quote

from swag_af.data.disk.files import named_by, read_text
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.disk.replacing import check_output, replacing
from swag_af.data.errors import InputError, several
from swag_af.verify.options import InviteOptions
from swag_af.verify.store import FOLDER, read_keys
from swag_af.verify.web.security import ID_PATTERN, invitation


def invite(options: InviteOptions) -> int:
    """Write the table of links; returns how many there are. The same id always gets the same link."""
    read_manifest(options.run, "run")
    check_output(options.out, force=options.force)
    made = [secrets.token_hex(8) for _ in range(options.n or 0)]
    ids = made if options.annotators is None else _ids(options.annotators)
    (options.run / FOLDER).mkdir(mode=0o700, exist_ok=True)
    secret = read_keys(options.run).secret
    with replacing(options.out, private=True) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("annotator", "link"))
        for one in ids:
            writer.writerow((one, f"{options.address.rstrip('/')}/a/{quote(one)}?key={invitation(secret, one)}"))
    return len(ids)


def _ids(path: Path) -> list[str]:
    """The ids in a file, one per line."""
    with named_by("--annotators"):
        lines = read_text(path).splitlines()
    ids = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    wrong = [one for one in ids if not ID_PATTERN.fullmatch(one)]
    if wrong or not ids:
        fault = f"{several(len(wrong), 'id')} that cannot be used (first: {wrong[0]!r})" if wrong else "no ids in it"
        raise InputError(f"{path}: {fault}. Write one per line: letters, digits, . _ @ -, at most 64.")
    return ids
