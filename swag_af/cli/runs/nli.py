"""What the verb `train-nli` prints, and `show` of its folder."""

import numpy as np

from swag_af.data.disk.urls import command
from swag_af.data.numbers.interval import interval
from swag_af.filters.nli.entailing import doubt_of
from swag_af.filters.nli.folder import NLIModel
from swag_af.reporting.tables.text import table


def trained_lines(model: NLIModel) -> list[str]:
    """`model_lines`, where the model is and what to run next."""
    return [*model_lines(model), f"Written to {model.path}. {following(model)}"]


def following(model: NLIModel) -> str:
    """What to run next."""
    return f"Next: {command('audit', 'questions.jsonl', '--filters', f'nli[{model.path}]')}"


def model_lines(model: NLIModel) -> list[str]:
    """How the data was read, sizes, losses, the held-out accuracy of all and of each class, each with its interval."""
    manifest, held = model.manifest, model.held_out()
    labels, said, groups = (np.array([getattr(one, name) for one in held]) for name in ("label", "said", "group"))
    rows = [("class", "pairs", "accuracy", "95 % interval")]
    for name, chosen in [
        ("all", np.ones(len(held), bool)),
        *((name, labels == i) for i, name in enumerate(manifest.classes)),
    ]:
        if chosen.any():
            hits = (labels == said)[chosen].astype(float)
            low, high = interval(hits, groups[chosen])
            rows.append((name, f"{len(hits):,}", f"{hits.mean():.3f}", f"{low:.3f} to {high:.3f}"))
    best, doubt = int(np.argmin(manifest.losses)), doubt_of(model)
    return [
        *manifest.notes,
        f"Trained on {manifest.n_train:,} pairs; {manifest.n_stop:,} chose epoch {best + 1} of {len(manifest.losses)} "
        f"(loss {manifest.losses[best]:.4f} nats). Held out, whole groups of premises:",
        "",
        *table(rows),
        "",
        f"The largest class is {np.bincount(labels).max() / len(labels):.3f} of them.",
        *([f"Look at this: {doubt}"] if doubt else []),
    ]
