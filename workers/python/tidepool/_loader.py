"""From the indices that the runtime leases to this worker to the batches that the loop sees.

The order of the samples is the runtime's: seeded, independent of the number of workers, each sample once an epoch.
"""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, Optional, Sequence

import torch
from torch.utils import data as torch_data

Collate = Callable[[list[Any]], Any]


def parts_of(samples: Sequence[int], most: Optional[int]) -> list[Sequence[int]]:
    """Cuts a share into parts of nearly equal length, none above `most`. One part at least, be it empty."""
    count = 1 if not most else max(1, -(-len(samples) // most))
    bounds = [len(samples) * i // count for i in range(count + 1)]
    return [samples[begin:end] for begin, end in zip(bounds, bounds[1:])]


class Fetcher:
    """Reads samples of a map-style dataset and makes a batch of them, with `threads` readers beside the loop's."""

    def __init__(self, dataset: Any, collate: Optional[Collate] = None, threads: int = 0) -> None:
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            raise TypeError("the dataset needs __len__() and __getitem__(index): every sample must be found by its number, "
                            "so that each is used once an epoch whatever the number of workers")
        if len(dataset) == 0:
            raise ValueError("the dataset is empty")
        self._dataset = dataset
        self._collate = collate
        self._readers = concurrent.futures.ThreadPoolExecutor(threads) if threads > 0 else None

    def __len__(self) -> int:
        return len(self._dataset)

    def batch(self, samples: Sequence[int]) -> Any:
        """The samples with these numbers, collated as torch's DataLoader does unless told otherwise."""
        if self._collate is None and type(self._dataset) is torch_data.TensorDataset:
            chosen = torch.as_tensor(samples, dtype=torch.int64)
            return [tensor[chosen] for tensor in self._dataset.tensors]
        collate = self._collate or torch_data.dataloader.default_collate
        return collate(self._read(samples))

    def _read(self, samples: Sequence[int]) -> list[Any]:
        if hasattr(self._dataset, "__getitems__"):
            return list(self._dataset.__getitems__(list(samples)))
        if self._readers is not None:
            return list(self._readers.map(self._dataset.__getitem__, samples))
        return [self._dataset[sample] for sample in samples]

    def close(self) -> None:
        if self._readers is not None:
            self._readers.shutdown(wait=False)
