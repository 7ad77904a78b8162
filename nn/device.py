"""Where networks compute, in which precision, and from which seed."""

import contextlib
from collections.abc import Iterator
from typing import Literal

import torch

from swag_af.data.errors import InputError

Precision = Literal["auto", "float32", "bfloat16"]
"""`auto` is bfloat16 on a GPU and float32 on a CPU."""


def pick_device(name: str) -> torch.device:
    """The torch device behind `auto`, `cpu` or `cuda`; `auto` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("--device cuda: this torch sees no GPU. Use --device cpu, or install a CUDA build of torch.")
    try:
        return torch.device(name)
    except RuntimeError:
        raise InputError(f"--device {name}: no device. There are cpu, cuda and auto.") from None


def mixed_precision(device: torch.device, precision: Precision = "auto") -> contextlib.AbstractContextManager[object]:
    """Products in bf16, which needs no scaling of losses; `auto`: on a GPU alone, and on a CPU nothing changes.

    For training alone: bf16 rounds otherwise in a batch of another size, and no score may depend on others in its
    batch.
    """
    enabled = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Torch's generators seeded inside, and as they were afterwards."""
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
