"""One thread for PyTorch: the networks here are small, and the machine may be busy."""

from __future__ import annotations

from contextlib import suppress

with suppress(ImportError):
    import torch

    torch.set_num_threads(1)
