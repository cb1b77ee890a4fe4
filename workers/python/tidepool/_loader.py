"""From the numbers that the runtime leases to this worker to the batches that the loop sees.

The order of the samples is the runtime's: seeded, independent of the number of workers, each sample once an epoch.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
from typing import Any, Callable, Iterator, Optional, Sequence

import torch
from torch.utils import data as torch_data

from tidepool._settings import LoopLength
from tidepool._stepping import Stepper

Collate = Callable[[list[Any]], Any]

# A worker without samples in a step computes on these and discards the result. Two, because batch norm needs two.
_BORROWED = 2


def parts_of(samples: Sequence[int], most: Optional[int]) -> list[Sequence[int]]:
    """Cuts a share into parts of nearly equal length, none above `most`. One part at least, be it empty."""
    count = 1 if not most else max(1, -(-len(samples) // most))
    bounds = [len(samples) * i // count for i in range(count + 1)]
    return [samples[begin:end] for begin, end in zip(bounds, bounds[1:])]


class Fetcher:
    """Reads samples of a map-style dataset and makes a batch of them, with `threads` readers beside the loop's."""

    def __init__(self, dataset: Any, collate: Optional[Collate] = None, threads: int = 0) -> None:
        if isinstance(dataset, torch_data.IterableDataset):
            raise TypeError("an IterableDataset gives its samples in an order of its own, and the workers find each sample "
                            "by its number: make it a Dataset with __len__() and __getitem__(index)")
        if isinstance(dataset, torch_data.DataLoader):
            raise TypeError("a DataLoader makes batches of its own: give job.loader() its dataset, with batch_size for "
                            "all workers together, its collate_fn, and num_threads for its num_workers")
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            raise TypeError("the dataset needs __len__() and __getitem__(index): every sample must be found by its "
                            "number, so that each is used once an epoch whatever the number of workers")
        if len(dataset) == 0:
            raise ValueError("the dataset is empty")
        self._dataset = dataset
        self._collate = collate
        self._threads = threads
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
            if self._readers is None:
                return list(self._dataset.__getitems__(list(samples)))
            parts = [list(part) for part in parts_of(samples, -(-len(samples) // self._threads))]
            return [sample for part in self._readers.map(self._dataset.__getitems__, parts) for sample in part]
        if self._readers is not None:
            return list(self._readers.map(self._dataset.__getitem__, samples))
        return [self._dataset[sample] for sample in samples]


class Loader:
    """Made by job.loader(). Iterating it is the training loop; the batches are this worker's share."""

    def __init__(self, stepper: Stepper, fetcher: Fetcher, length: LoopLength, join: Callable[[], None]) -> None:
        """`join` is called before the first step."""
        self.length = length
        self.by_epoch = False  # a loop over job.epochs() is around this one
        self._stepper = stepper
        self._fetcher = fetcher
        self._join = join

    def count_epochs(self, count: int) -> None:
        """A loop over so many epochs is around this one."""
        self.by_epoch = True
        self.length = dataclasses.replace(self.length, epochs=count)

    def next(self) -> bool:
        """Begins the next step; False at the end. Joins before the first."""
        if not self._stepper.joined:
            self._join()
        return self._stepper.next()

    def __len__(self) -> int:
        raise TypeError("a loader has no len(): how many batches a worker gets changes with the number of workers. An epoch "
                        "has -(-len(dataset) // batch_size) steps while the batch does not follow the number of workers; "
                        "give a scheduler that number, and count with job.step")

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        if self._stepper.ending is not None and not self.by_epoch:
            raise RuntimeError("the job is at its end. For several passes write: for epoch in job.epochs(3): for batch in "
                               "loader: ...")
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        stepper = self._stepper
        epochs = self.length.epochs
        while self.next():
            if not self.by_epoch and epochs is not None and stepper.current().epoch >= epochs:
                stepper.finish()
                return
            *parts, last = parts_of(stepper.current().samples, self.length.micro_batch)
            for part in parts:
                stepper.begin_part(len(part), last=False)
                yield self._fetcher.batch(part)
                stepper.end_part()
            stepper.begin_part(len(last), last=True)
            yield self._fetcher.batch(last or range(min(_BORROWED, len(self._fetcher))))
            if self.by_epoch and stepper.epoch_ends():
                return
