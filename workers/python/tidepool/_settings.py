"""Settings of a worker: from its program (JobOptions), and from the job's document, which the agent provides."""

from __future__ import annotations

import dataclasses
import inspect
import json
import operator
import os
from typing import Any, Optional


def whole_number(name: str, value: Any, least: Optional[int] = None) -> int:
    """`value`, as an argument called `name`; TypeError or ValueError in words if it is not what it must be."""
    wanted = "a whole number" if least is None else f"a whole number, {least} or more"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {value!r}, a {type(value).__name__}; it must be {wanted}")
    number = operator.index(value)
    if least is not None and number < least:
        raise ValueError(f"{name} is {number}; it must be {least} or more")
    return number


def must_take(call: str, argument: str, function: Any) -> None:
    """TypeError in words if `function`, given to `call`, cannot be called with one argument. Found here, it costs no
    worker: the first call may come hours later, when workers join or leave."""
    if not callable(function):
        raise TypeError(f"{call} takes a function, and was given {function!r}, a {type(function).__name__}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a built-in without a signature
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise TypeError(f"the function given to {call} is called with one argument, {argument}: {error}") from None


@dataclasses.dataclass(frozen=True)
class JobOptions:
    """`seed`: of the order of the samples, the same on all workers.
    `loss`: "mean" if the loss is the mean over a batch's samples (PyTorch's default), "sum" if it is their sum.
    `warmup_steps`: steps over which a learning rate that grows with the number of workers (batch.on_resize of the job
    file) is reached.
    `noise_every`: the gradient noise scale is measured in every noise_every-th step; 0 = only if a rule needs it.
    `bucket_mb`: gradients are passed to the sum in pieces of about this many MiB.
    `exit_when_left`: a worker without which the job continues exits with code 0 inside the loader; otherwise its loop
    ends and `job.left` is True."""
    seed: int = 1
    loss: str = "mean"
    warmup_steps: int = 8
    noise_every: int = 10
    bucket_mb: float = 4.0
    exit_when_left: bool = True

    def __post_init__(self) -> None:
        for name, least in (("seed", None), ("warmup_steps", 0), ("noise_every", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least))
        if self.loss not in ("mean", "sum"):
            raise ValueError(f'loss="{self.loss}": use "mean" or "sum"')
        if isinstance(self.bucket_mb, bool) or not isinstance(self.bucket_mb, (int, float)) or not self.bucket_mb > 0:
            raise TypeError(f"bucket_mb is {self.bucket_mb!r}; it must be a number above 0")
        if not isinstance(self.exit_when_left, bool):
            raise TypeError(f"exit_when_left is {self.exit_when_left!r}; it must be True or False")


@dataclasses.dataclass(frozen=True)
class LoopLength:
    """The size of a step, and where the loop ends: after `steps`, or else after `epochs`. `samples` in one epoch;
    `global_batch` samples per step over all workers; at most `micro_batch` of them are in one batch."""
    samples: int
    global_batch: int
    micro_batch: Optional[int] = None
    epochs: Optional[int] = None
    steps: Optional[int] = None

    @property
    def work_samples(self) -> int:
        """Of all epochs; 0: the loop ends after steps."""
        return self.samples * self.epochs if self.epochs and not self.steps else 0


@dataclasses.dataclass(frozen=True)
class JobFile:
    """The part of the job file that a training loop needs. None: the program runs alone."""
    global_batch: Optional[int] = None
    per_worker_max: Optional[int] = None
    on_resize: str = "constant"
    global_max: Optional[int] = None
    preferred: Optional[int] = None


def has_agent() -> bool:
    """Whether this process is a worker that its agent listens to."""
    return bool(os.environ.get("TIDEPOOL_AGENT_SOCKET"))


def read_job_file() -> JobFile:
    """From TIDEPOOL_JOB_FILE, which holds the job with every default written out."""
    path = os.environ.get("TIDEPOOL_JOB_FILE")
    if not path:
        return JobFile()
    try:
        with open(path, encoding="utf-8") as file:
            document: dict[str, Any] = json.load(file)
        batch = document.get("batch", {})
        elastic = document.get("elastic", {})
        return JobFile(global_batch=batch.get("global"), per_worker_max=batch.get("per_worker_max"),
                       on_resize=batch.get("on_resize", "constant"), global_max=batch.get("global_max"),
                       preferred=elastic.get("preferred"))
    except (OSError, ValueError, AttributeError) as error:
        raise RuntimeError(f"the job document {path} (TIDEPOOL_JOB_FILE) cannot be read: {error}") from error
