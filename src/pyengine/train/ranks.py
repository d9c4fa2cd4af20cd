"""Training with several processes: PyTorch's DistributedDataParallel under torchrun."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import torch  # noqa: TID253  # imported only where the extra is needed
import torch.distributed as dist  # noqa: TID253
from torch import nn  # noqa: TID253


class Ranks:
    """The rank of this process under torchrun, out of ``world``; rank 0 writes the files.

    A process that was not started by torchrun is rank 0 of 1.
    """

    def __init__(self, device: str) -> None:
        """Join the process group given by RANK, WORLD_SIZE and LOCAL_RANK, if any."""
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0")) if self.world > 1 else 0
        cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
        local = int(os.environ.get("LOCAL_RANK", "0"))
        self.device = torch.device("cuda", local) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(self.device)
            torch.backends.cudnn.benchmark = True  # batches have few shapes
        if self.world > 1 and not dist.is_initialized():
            dist.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo")

    def place(self, array: npt.NDArray[np.generic]) -> torch.Tensor:
        """Return the array on the device; a copy to a GPU does not wait for earlier work."""
        tensor = torch.from_numpy(array)
        if self.device.type == "cpu":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)

    def wrap(self, network: nn.Module) -> nn.Module:
        """Return a module whose gradient is averaged over all processes.

        Batches are normalised per process; see :meth:`average_statistics`.
        """
        if self.world == 1:
            return network
        ids = [self.device.index] if self.device.type == "cuda" else None
        return nn.parallel.DistributedDataParallel(network, device_ids=ids)

    def average_statistics(self, network: nn.Module) -> None:
        """Average the statistics of batch normalisation over all processes.

        PyTorch keeps those of the first process, which has seen only its share of each batch.
        """
        statistics = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
        if self.world == 1 or not statistics:
            return
        together = torch.cat([buffer.flatten() for buffer in statistics])
        dist.all_reduce(together)
        parts = (together / self.world).split([buffer.numel() for buffer in statistics])
        for buffer, part in zip(statistics, parts, strict=True):
            buffer.copy_(part.view_as(buffer))

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set in any process, without waiting for a GPU."""
        if self.world == 1:
            return flag
        shared: Any = torch.tensor(int(flag))
        dist.all_reduce(shared, dist.ReduceOp.MAX)
        return bool(shared.item())

    def close(self) -> None:
        """Leave the process group once all processes do."""
        if self.world > 1 and dist.is_initialized():
            dist.barrier()
            dist.destroy_process_group()
