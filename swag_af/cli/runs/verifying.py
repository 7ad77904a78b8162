"""What the verbs print that ask people: serving, tasks for elsewhere, agreement."""

from collections.abc import Collection

from swag_af.cli.saying import say
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError, several
from swag_af.data.extras import needing
from swag_af.judging.options import AgreementOptions
from swag_af.reporting.tables.text import table
from swag_af.verify.options import BackupOptions, ExportOptions, ImportOptions, InviteOptions, ServeOptions


def verify_serve(options: ServeOptions) -> None:
    """Print the address of the web application, and serve it until Ctrl-C."""
    with needing("verify"):
        from swag_af.verify.web.server import serve
    serve(options, say=say)


def verify_invite(options: InviteOptions) -> None:
    """Write the links, and say what to run next."""
    with needing("verify"):
        from swag_af.verify.invitations import invite
    n = invite(options)
    then = command("verify", "serve", options.run, "--invited-only")
    say(f"{several(n, 'link')}. Written to {options.out}. Next: {then}")


def verify_backup(options: BackupOptions) -> None:
    """Copy the answers, and say how many they are."""
    with needing("verify"):
        from swag_af.verify.backup import backup
    n = backup(options)
    say(f"{several(n, 'answer')}, those to trial questions included. Written to {options.out}.")


def verify_export(options: ExportOptions) -> None:
    """Print which files were written, which of them to upload, and which to keep private."""
    from swag_af.verify.exchange.verb import export

    done = export(options)
    if done.key is None:
        say(
            *done.warnings,
            f"{several(done.n, 'verdict')}. Written to {options.out}. Next: "
            f"{command('verify', 'agreement', options.out)}",
        )
        return
    for warning in done.warnings:
        say(f"Warning: {warning}", "")
    say(f"{several(done.n, 'task')} for people elsewhere: {' and '.join(map(str, done.files))}")
    say(f"{done.key} says which ending is gold: keep it here, and upload it nowhere.", "")
    say(f"When answers are back: {command('verify', 'import', options.run, 'FILE', '--key', done.key)}")


def verify_import(options: ImportOptions) -> None:
    """Print how many verdicts there are, and what was dropped."""
    from swag_af.judging.verdicts import told_apart
    from swag_af.verify.exchange.verb import import_verdicts

    done = import_verdicts(options)
    annotators = len({verdict.annotator for verdict in done.verdicts})
    items = len({verdict.item for verdict in done.verdicts})
    say(
        f"{several(len(done.verdicts), 'verdict')} of {several(annotators, 'person', 'people')} on "
        f"{several(items, 'item')}"
    )
    say(f"answers dropped: {', '.join(f'{n:,} {why}' for why, n in done.dropped.most_common()) or 'none'}")
    if apart := told_apart(verdict.item for verdict in done.verdicts):
        say(apart)
    if alike := done.alike:
        some = "; ".join(" and ".join(names) for names in alike[:5]) + ("; ..." if len(alike) > 5 else "")
        say(
            f"Warning: annotators whose names differ in letter case alone count as different people ({some}). If they "
            "are not, write each name in one way, and import again."
        )
    say("", f"Written to {options.out}. Next: {command('verify', 'agreement', options.out)}")


def verify_agreement(options: AgreementOptions) -> None:
    """Print Table 2 of the paper next to the same figures for these verdicts."""
    from swag_af.data.disk.files import write_json
    from swag_af.data.disk.replacing import check_apart, check_output
    from swag_af.judging.agreement import (
        ANNOTATORS,
        ANY,
        INTERVALS,
        agreement_rows,
        annotator_rows,
        consensus_rows,
        distribution_rows,
        measure,
    )
    from swag_af.judging.screening import NOBODY_SCREENED, counted_of, screens_nobody, told_rule
    from swag_af.judging.verdicts import read_verdicts, told_apart

    if options.json is not None:
        check_apart("--json", options.json, (options.verdicts,))
        check_output(options.json, force=options.force, flag="--json")
    every = read_verdicts(options.verdicts)
    counted, dropped = counted_of(every, screen=options.screen)
    if not counted:
        raise InputError(f"{options.verdicts}: screening drops all annotators. See their figures with --no-screen.")
    found = measure(counted, model=options.model, seed=options.seed, everyone=every)
    n_people = len(found.annotators) - len(dropped)
    say(
        f"{several(found.n_verdicts, 'verdict')} of {several(n_people, 'person', 'people')} on "
        f"{several(found.n_items, 'item')}, {found.n_shared_items:,} of them judged twice or more",
        *([NOBODY_SCREENED] if screens_nobody(every) else []),
        *_left_out(dropped, len(every) - len(counted), told_rule(every)),
        *filter(None, [told_apart(verdict.item for verdict in counted)]),
        "",
    )
    labels = distribution_rows(found, ANY)
    for rows in (
        [row[:5] for row in labels],
        [[row[0], *row[5:]] for row in labels],  # the paper's
        agreement_rows(found),
        consensus_rows(found, ANY),
        annotator_rows(found),
    ):
        say(*table([tuple(row) for row in rows]), "")
    say(ANNOTATORS, INTERVALS)
    if options.json is not None:
        write_json(options.json, found.as_record())
        say(f"Written to {options.json}.")


def _left_out(dropped: Collection[str], n_verdicts: int, rule: str) -> list[str]:
    if not dropped:
        return []
    is_one = len(dropped) == 1
    return [
        f"Left out of all but the last table, as in `release`: {', '.join(sorted(dropped))} "
        f"({several(n_verdicts, 'verdict')}), who {'ranks' if is_one else 'rank'} gold among the two best in {rule}; "
        "--no-screen counts them. Those who disagree with gold are gone then, and of those who guess the luckiest "
        "stay, so its shares are biased upwards."
    ]
