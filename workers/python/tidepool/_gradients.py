"""The gradients of all parameters in one flat buffer, which libtidepool sums over the workers.

Each `parameter.grad` is a view into the buffer, so that backward writes where the sum is taken and nothing is copied.
The buffer is cut into buckets, from its end, where backward begins; a bucket whose last gradient has arrived is handed
to the runtime while backward goes on, all but the last, which the runtime sums together with its own control word. All
workers must announce the same buckets in the same order: bucket k waits for the buckets before it, and flush() brings
what is left, be it that a parameter took no part in the loss.

The rule: after begin_part() the gradients are zero, and whatever the program zeroes before its backward() changes
nothing. A backward that does not complete the step (a micro-batch, no_sync) is folded into a sum aside when it ends.

An error in a hook is kept and raised by raise_failure(): a process whose autograd engine has carried a Python error may
wait for ever at its exit.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Callable, Optional, Sequence

import torch

Announce = Callable[[int, int], None]  # first float, count


@dataclasses.dataclass
class _Bucket:
    first: int  # index of its first float in the buffer
    last: int  # index after its last float
    parameters: int
    missing: int = 0  # parameters whose gradient of this backward has not arrived yet


def float_count(parameters: Sequence[torch.nn.Parameter]) -> int:
    """Floats that the parameters' gradients need."""
    return sum(parameter.numel() for parameter in parameters)


class GradientBuckets:
    """Owns `parameter.grad` of `parameters` from its making to release(). `buffer` is as long as the gradients of all
    parameters, in their order. `announce` is called with finished ranges of it, which hold sums over this worker's
    samples: each backward's gradients times the weight given to begin_part()."""

    def __init__(self, parameters: Sequence[torch.nn.Parameter], buffer: torch.Tensor, bucket_bytes: int,
                 announce: Announce) -> None:
        self._parameters = list(parameters)
        self._buffer = buffer
        self._announce = announce
        self._views: list[torch.Tensor] = []
        self._buckets: list[_Bucket] = []
        self._next = 0  # bucket to announce next
        self._aside: Optional[torch.Tensor] = None  # weighted sum of the step's earlier backwards
        self._weight = 1.0
        self._nodes: list[Any] = []  # the graph's accumulation nodes live as long as they are referenced
        self._hooks: list[Any] = []
        self._in_backward = False
        self._arrived: set[int] = set()  # first floats of the parameters whose gradient of this backward has arrived
        self._touched = False  # a gradient has arrived since they were zeroed
        self._failure: Optional[BaseException] = None  # the first failure of a hook
        self.reached = False  # a gradient has ever arrived
        self.completes = False  # the coming backward completes the step
        self.summed = False  # the step's sum is taken: no further gradient may arrive
        self.on_complete: Callable[[], None] = lambda: None  # called at the end of the backward that completes the step
        self._cut(max(1, bucket_bytes // 4))
        self.attach()

    def _cut(self, floats: int) -> None:
        """Makes the views and the buckets of at least `floats` floats each."""
        begin = self._buffer.numel()
        bucket = _Bucket(begin, begin, 0)
        for parameter in reversed(self._parameters):
            begin -= parameter.numel()
            view = self._buffer[begin:begin + parameter.numel()].view(parameter.shape)
            bucket.first = begin
            bucket.parameters += 1
            node = parameter.view_as(parameter).grad_fn.next_functions[0][0]
            self._hooks.append(node.register_hook(self._hook(parameter, view, bucket, begin)))
            self._nodes.append(node)
            self._views.insert(0, view)
            if bucket.last - bucket.first >= floats:
                self._buckets.append(bucket)
                bucket = _Bucket(begin, begin, 0)
        if bucket.parameters > 0:
            self._buckets.append(bucket)

    def _hook(self, parameter: torch.nn.Parameter, view: torch.Tensor, bucket: _Bucket,
              first: int) -> Callable[..., None]:
        def ended() -> None:
            self._keep_failure(self._backward_ended)

        def arrived() -> None:
            if self.summed:
                raise RuntimeError("a second backward() in one step: its gradients come after the sum over the workers. "
                                   "Add the losses and call backward() once, or put all but the last into `with "
                                   "job.no_sync():`")
            if first in self._arrived or (not self._in_backward and _inside_backward()):
                raise RuntimeError("a backward() inside another one, as torch.utils.checkpoint does it unless told "
                                   "otherwise: the step cannot be summed before the outer one ends. Call "
                                   "checkpoint(..., use_reentrant=False)")
            self._arrived.add(first)
            self._touched = self.reached = True
            if parameter.grad is not view:
                _take_back(parameter, view)
            if not self._in_backward:
                self._in_backward = True
                torch.autograd.Variable._execution_engine.queue_callback(ended)
            bucket.missing -= 1
            if self.completes and bucket.missing == 0 and self._weight != 0.0:
                self._announce_full()

        return lambda *_: self._keep_failure(arrived)

    def _keep_failure(self, act: Callable[[], None]) -> None:
        """Calls `act`, unless something has failed before."""
        if self._failure is not None:
            return
        try:
            act()
        except BaseException as error:  # also a KeyboardInterrupt: it is raised a moment later
            self._failure = error

    def raise_failure(self) -> None:
        """Raises what a hook could not."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._in_backward = False
            self._arrived.clear()
            raise failure

    def _backward_ended(self) -> None:
        self._in_backward = False
        self._arrived.clear()
        if self.completes:
            if self._weight == 0.0:
                self._buffer.zero_()
            self.on_complete()
        else:
            self._fold()

    def _fold(self) -> None:
        if self._aside is None:
            self._aside = torch.zeros_like(self._buffer)
        if self._weight != 0.0:  # a product with 0 would keep NaN and infinities
            self._aside.add_(self._buffer, alpha=self._weight)
        self._buffer.zero_()
        self._touched = False

    def begin_step(self) -> None:
        """Nothing is gathered and nothing is announced."""
        self._buffer.zero_()
        self._touched = False
        if self._aside is not None:
            self._aside.zero_()
        self._next = 0
        self.summed = False
        self.attach()

    def begin_part(self, weight: float, completes: bool) -> None:
        """The next backward's gradients count `weight`, not at all if it is 0; `completes`: with them the step's are
        all there."""
        self._weight = weight
        self.arm(completes)

    def arm(self, completes: bool) -> None:
        """Says again whether the coming backward completes the step."""
        self.completes = completes
        for bucket in self._buckets:
            bucket.missing = bucket.parameters

    def zero(self) -> None:
        """What the program's zero_grad() means: the next backward's gradients are added to nothing."""
        if self._touched and not self.summed:
            self._buffer.zero_()
            self._touched = False
        self.attach()

    def attach(self) -> None:
        """Each parameter's gradient is its view again, after someone set it to None."""
        for parameter, view in zip(self._parameters, self._views):
            if parameter.grad is not view:
                parameter.grad = view

    def _announce_full(self) -> None:
        while self._next < len(self._buckets) and self._buckets[self._next].missing == 0:
            self._announce_next()

    def _announce_next(self) -> None:
        bucket = self._buckets[self._next]
        self._next += 1
        values = self._buffer[bucket.first:bucket.last]
        if self._weight != 1.0:
            values.mul_(self._weight)
        if self._aside is not None:
            values.add_(self._aside[bucket.first:bucket.last])
        if self._next < len(self._buckets):
            self._announce(bucket.first, bucket.last - bucket.first)

    def flush(self) -> None:
        """Brings the buckets that are left: the buffer holds this worker's sums, or sums over all workers already."""
        while self._next < len(self._buckets):
            self._announce_next()

    def release(self) -> None:
        """The buffer goes: the parameters get gradients of their own, and nothing is watched any more."""
        for hook in self._hooks:
            hook.remove()
        for parameter, view in zip(self._parameters, self._views):
            if parameter.grad is view:
                parameter.grad = view.clone()
        self._hooks, self._nodes, self._views, self._parameters, self._buckets = [], [], [], [], []


def _inside_backward() -> bool:
    """A backward function in Python is under way on this thread."""
    frame = sys._getframe()
    while frame is not None and frame.f_code is not torch.autograd.function.BackwardCFunction.apply.__code__:
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


def _take_back(parameter: torch.nn.Parameter, view: torch.Tensor) -> None:
    """Someone set the gradient to None, and backward made a new one."""
    fresh = parameter.grad
    if fresh is not None:
        if fresh.requires_grad:
            raise TypeError("backward(create_graph=True) is not supported: the workers sum plain gradients")
        view.copy_(fresh.to_dense() if fresh.is_sparse else fresh)
    parameter.grad = view
