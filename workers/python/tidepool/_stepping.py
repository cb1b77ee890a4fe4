"""One step after another: leased by the runtime, computed by the loop, agreed on by all workers, applied, committed.

      next()            backward() ends        opt.step()          next()
    ---------> COMPUTING ----------> SUMMED ----------> APPLIED ----------> committed
                            |
                            +------> RETRY: a worker died; opt.step() does nothing, next() gives the same samples again

The rule that everything here keeps: registered memory changes only between SUMMED and the commit. Then a replica is
exactly at a committed step whenever a worker dies.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import functools
import math
import os
import sys
import time
import weakref
from typing import Any, Callable, Iterator, Optional, Sequence

import torch

from tidepool import _abi, _device, _optimizer_state
from tidepool._end_signal import EndSignal
from tidepool._gradients import GradientBuckets, float_count
from tidepool._replica import PickleShadow, Piece, TensorShadow
from tidepool._settings import JobFile, JobOptions, LoopLength

# Changes of module buffers are summed before the gradients, scaled so that they do not affect the gradient noise.
_BUFFER_SCALE = 2.0 ** -40

_NOTICE_PATIENCE_S = 1.0  # after SIGTERM


class Phase(enum.Enum):
    """Where the step under way is."""
    OUTSIDE = "outside"  # no step in progress
    COMPUTING = "computing"  # the gradients are being gathered
    SUMMED = "summed"  # agreed on by all workers, to be applied
    APPLIED = "applied"  # to be committed
    RETRY = "retry"  # a worker died: to be repeated


class _Progress(ctypes.Structure):
    """What a joining worker must know beside the state of the model; registered."""
    _fields_ = [("used", ctypes.c_int64), ("mean_loss", ctypes.c_double)]


@dataclasses.dataclass(frozen=True)
class Resize:
    """The argument of an on_resize() function. `step`: committed steps so far; all of them with the old size."""
    old_size: int
    new_size: int
    rank: int
    generation: int
    step: int


class Stepper:
    """The session of this worker, from join() to close(), and the step under way."""

    def __init__(self, options: JobOptions, file: JobFile) -> None:
        self.pieces: list[Piece] = []  # of the replica; the optimizers' pieces are added in join()
        self.optimizers: dict[str, torch.optim.Optimizer] = {}  # by name; their state is registered in join()
        self.averaged: list[TensorShadow] = []  # module buffers that the workers average at each step
        self.with_steps: list[Piece] = []  # change once per step: learning rates, schedulers, registered tensors
        self.with_turns: list[PickleShadow] = []  # forward passes change them too, permanently, such as generators
        self.batch_rule: Optional[_abi.BatchRule] = None
        self.on_resize: list[Callable[[Resize], Any]] = []
        self.on_notice: list[Callable[[_abi.Notice], Any]] = []
        self._end_signal = EndSignal()
        self.phase = Phase.OUTSIDE
        self.step: Optional[_abi.Step] = None  # in progress, or the last
        self.totals: Optional[_abi.Totals] = None
        self.ending: Optional[int] = None
        self.committed = 0  # steps
        self.finish_asked = False
        self._notice: Optional[_abi.Notice] = None  # the newest notice
        self._told_notice = ""  # decision of the notice that the program has received
        self._options = options
        self._file = file
        self._length = LoopLength(0, 0)
        self._progress = _Progress(mean_loss=math.nan)  # not reported by any step yet
        self._session: Optional[_abi.Session] = None
        self._buckets: Optional[GradientBuckets] = None
        self._on_gpu = False  # whether the session has memory on the GPU
        self._held: list[object] = [self.pieces]  # memory that the session refers to; must outlive it
        self._part_samples = 0  # of the current micro-batch
        self._last_part = True
        self.given = True  # the loop over batches has received the current step
        self._loss_sum = 0.0
        self._loss_samples = 0

    # --- joining ------------------------------------------------------------------------------------------------

    @property
    def joined(self) -> bool:
        return self._session is not None

    def join(self, model: torch.nn.Module, length: LoopLength) -> None:
        """Registers the state and waits for the first generation."""
        self._length = length
        for name, optimizer in self.optimizers.items():
            self._take_state(name, optimizer)
        session = _abi.Session(_abi.Options(
            samples=length.samples, global_batch=length.global_batch, seed=self._options.seed, steps=length.steps or 0,
            on_resize=self._file.on_resize, base_size=self._file.preferred or 1,
            warmup_steps=self._options.warmup_steps, per_worker_max=length.micro_batch or 0,
            noise_every=self._options.noise_every, work_samples=length.work_samples,
            global_batch_max=self._file.global_max or 0), self.batch_rule)
        self._session = session
        self._closer = weakref.finalize(self, _close_quietly, session, self._held)
        os.register_at_fork(after_in_child=functools.partial(_leave_to_parent, weakref.ref(self)))
        session.register("tidepool.progress", ctypes.addressof(self._progress), ctypes.sizeof(self._progress))
        trained = [p for p in model.parameters() if p.requires_grad]
        if not trained:
            raise ValueError("all parameters of the model were frozen after job.wrap(): there is nothing to train. "
                             "Leave requires_grad set for those that are to be trained")
        known = {piece.address for piece in self.pieces}
        if any(parameter.data_ptr() not in known for parameter in trained):
            raise ValueError("a parameter of the model was added or replaced after job.wrap(): build the whole model and "
                             "move it to its device before")
        self._on_gpu = _device.on_gpu(trained[0]) or any(piece.on_gpu for piece in self.pieces)
        self._name_stream()
        for piece in self.pieces:
            piece.save()  # values set after registration, such as a scheduler's first learning rate
            if piece.length == 0:
                continue  # an empty tensor has no state, and the library refuses it
            register = session.register_device if piece.on_gpu else session.register
            register(piece.name, piece.address, piece.length)
        self._frozen = [p for p in model.parameters() if not p.requires_grad]
        self._make_buckets(trained, session)
        self._name_stream()
        session.join()

    def _take_state(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        """Not before join(): until then the program may load a state, unfreeze parameters and add groups."""
        _optimizer_state.make_state(optimizer)
        pieces = _optimizer_state.pieces(name, optimizer)
        self.pieces += pieces
        self.with_steps += [piece for piece in pieces if isinstance(piece, PickleShadow)]

    def _make_buckets(self, trained: list[torch.nn.Parameter], session: _abi.Session) -> None:
        """One buffer: first the module buffers that are averaged, then the gradients. On the CPU it is the session's,
        on the GPU PyTorch's own, lent to the session until it is closed."""
        ahead = sum(buffer.count() for buffer in self.averaged)
        floats = ahead + float_count(trained)
        device = _device.common_device(trained)
        if _device.on_gpu(trained[0]):
            self._buffer: Optional[torch.Tensor] = torch.zeros(floats, dtype=torch.float32, device=device)
            self._held.append(self._buffer)
            session.lend_gradients(self._buffer.data_ptr(), floats)
        else:
            memory = (ctypes.c_float * floats).from_address(session.gradients(floats))
            self._buffer = torch.frombuffer(memory, dtype=torch.float32)

        def announce(first: int, count: int) -> None:
            self._name_stream()
            session.bucket_ready(ahead + first, count)

        self._buckets = GradientBuckets(trained, self._buffer[ahead:], int(self._options.bucket_mb * (1 << 20)),
                                        announce)
        self._buckets.on_complete = self._sum

    def _name_stream(self) -> None:
        """What was enqueued so far by the calling thread comes before what the session is asked next."""
        if self._on_gpu:
            assert self._session is not None
            self._session.use_stream(_device.current_stream())

    # --- from step to step --------------------------------------------------------------------------------------

    def current(self) -> _abi.Step:
        assert self.step is not None
        return self.step

    def next(self) -> bool:
        """Settles the step before and begins the next; False when the loop is at its end."""
        assert self._session is not None
        if self.ending is not None:
            return False
        if not self._closer.alive:
            raise RuntimeError("the job was closed: job.close() comes after the loop, and a forked process leaves the "
                               "loop to its parent")
        if not self.given:
            return True  # begun by the loop over epochs, not yet received by the loop over batches
        if self._buckets is not None:
            self._buckets.raise_failure()
        retried = self.phase is Phase.RETRY
        self._settle()
        if self._end_signal.came:
            self._end_by_signal()
        if self.finish_asked:
            return self.finish()
        result, step = self._session.next_step()
        if step is None:
            return self._end(result)
        self._begin(step, retried)
        return True

    def _settle(self) -> None:
        """Commits the step before, if it was applied."""
        if self.phase is Phase.COMPUTING:
            raise RuntimeError("each batch ends in opt.step(): this one's gradients were not applied, and the other "
                               "workers wait for them (job.skip_step() leaves the parameters as they are)")
        if self.phase is Phase.SUMMED:
            raise RuntimeError("opt.step() is missing after backward(). Where the step is left out on purpose, as a "
                               "GradScaler does when gradients overflow, call job.skip_step() in its place")
        if self.phase is Phase.APPLIED:
            assert self._session is not None and self.totals is not None
            self._progress.used = 0 if self.epoch_ends() else self._progress.used + self.totals.samples
            self._progress.mean_loss = self.totals.mean_loss
            for piece in self.pieces:
                piece.check()
                piece.save()
            self._name_stream()
            self._session.commit()
            self.committed += 1
        self.phase = Phase.OUTSIDE

    @property
    def mean_loss(self) -> float:
        """Of the step that is summed, else of the newest committed one: the same on all workers, whichever of them has
        taken part in it."""
        if self.totals is not None and self.phase in (Phase.SUMMED, Phase.APPLIED):
            return self.totals.mean_loss
        return float(self._progress.mean_loss)

    def epoch_ends(self) -> bool:
        """The step that is applied holds the epoch's last sample."""
        if self.phase is not Phase.APPLIED or self.totals is None:
            return False
        return bool(self._progress.used + self.totals.samples >= self._length.samples)

    def _begin(self, step: _abi.Step, retried: bool) -> None:
        before, self.step = self.step, step
        self.committed = step.number
        new_generation = before is None or before.generation != step.generation
        if new_generation or retried:
            for piece in self.pieces:
                piece.restore()
        if new_generation and before is not None:
            change = Resize(old_size=before.size, new_size=step.size, rank=step.rank, generation=step.generation,
                            step=step.number)
            for function in self.on_resize:
                function(change)
        assert self._buckets is not None
        self._buckets.begin_step()
        self.phase = Phase.COMPUTING
        self.given = False

    # --- inside a step ------------------------------------------------------------------------------------------

    def begin_part(self, samples: int, last: bool) -> None:
        """The loop is about to see a batch of so many samples of its own; `last`: the step's last."""
        assert self._buckets is not None
        self.given = True
        self._part_samples, self._last_part = samples, last
        weight = float(samples) if self._options.loss == "mean" else 1.0
        # Without samples of its own this worker computes on borrowed ones and discards the result. It still sums its
        # step at the end of backward(): all workers then treat the gradients alike.
        self._buckets.begin_part(weight if samples > 0 else 0.0, last)

    @property
    def gathers_more(self) -> bool:
        """The loop is at a micro-batch that does not end its step."""
        return self.phase is Phase.COMPUTING and not self._last_part

    def end_part(self) -> None:
        """A micro-batch that does not end the step: what the loop's body did after opt.step() is undone."""
        for piece in self.with_steps:
            piece.restore()
        for shadow in self.with_turns:
            shadow.undo()

    def report(self, loss: float) -> None:
        samples = max(1, self._part_samples)
        self._loss_sum += loss * samples if self._options.loss == "mean" else loss
        self._loss_samples += samples

    @contextlib.contextmanager
    def without_sum(self) -> Iterator[None]:
        """A backward in it does not complete the step."""
        if self._buckets is None or self.phase is not Phase.COMPUTING:
            raise RuntimeError("job.no_sync() belongs into the loop over job.loader(), before the step's last backward()")
        completes = self._buckets.completes
        self._buckets.arm(False)
        try:
            yield
        finally:
            self._buckets.arm(completes)

    def _sum(self) -> None:
        """Agrees with the other workers on the step."""
        assert self._buckets is not None and self._session is not None and self._buffer is not None
        self._buckets.flush()
        self._tell_changes(self._buffer)
        self._name_stream()
        totals = self._session.reduce(self._take_loss())
        self._buckets.summed = True
        if totals is None:
            self._buffer.zero_()
            self.phase = Phase.RETRY
            return
        self.totals = totals
        self._buffer.mul_(1.0 / totals.samples)
        self._take_changes(self._buffer)
        self.phase = Phase.SUMMED

    def _take_loss(self) -> float:
        """The sum over this step's samples: of what was reported, else of the mean before; NaN while none is known."""
        none_told = self._loss_samples == 0
        mean = float(self._progress.mean_loss) if none_told else self._loss_sum / self._loss_samples
        self._loss_sum, self._loss_samples = 0.0, 0
        return mean * len(self.current().samples)

    def _tell_changes(self, memory: torch.Tensor) -> None:
        at = 0
        for buffer in self.averaged:
            buffer.tell_change(_BUFFER_SCALE * len(self.current().samples), memory[at:at + buffer.count()])
            at += buffer.count()

    def _take_changes(self, memory: torch.Tensor) -> None:
        at = 0
        for buffer in self.averaged:
            buffer.take_change(memory[at:at + buffer.count()] / _BUFFER_SCALE)
            at += buffer.count()

    def apply(self, step: Callable[[], Any], optimizer: Optional[torch.optim.Optimizer] = None) -> None:
        """Calls `step` if the step is agreed on and complete."""
        if self._buckets is not None:
            self._buckets.raise_failure()
        if self.gathers_more:  # the last micro-batch completes the step
            for shadow in self.with_turns:
                shadow.note()
            return
        if self.phase is Phase.COMPUTING:
            if optimizer is not None and self._buckets is not None and not self._buckets.reached:
                raise RuntimeError("opt.step(), but no gradient has reached the model that was given to job.wrap(): "
                                   "compute the loss with that model, not with a copy or another one, and call "
                                   "loss.backward() before opt.step()")
            self._sum()
        if self.phase is Phase.RETRY:
            return
        if self.phase is Phase.OUTSIDE:
            raise RuntimeError("opt.step() belongs into the loop over job.loader()")
        if any(parameter.requires_grad for parameter in self._frozen):
            raise RuntimeError("a parameter was unfrozen after the loop began: its gradient would not be summed. "
                               "Unfreeze it before the loop, and give it a learning rate of 0 for as long as it shall stay")
        factor = self.current().lr_factor
        with _scaled_rates(optimizer, factor) if optimizer is not None and factor != 1.0 else contextlib.nullcontext():
            step()
        self.phase = Phase.APPLIED

    def zero_grad(self, zero: Callable[[], None]) -> None:
        """The program's zero_grad(); outside of the loop the optimizer's own, `zero`."""
        if self._buckets is None:
            zero()
        else:
            self._buckets.zero()

    # --- the end ------------------------------------------------------------------------------------------------

    def finish(self) -> bool:
        """The last step is committed, on every worker alike; False, as next() would say."""
        assert self._session is not None
        self._session.finish()
        result = _abi.STEP
        while result == _abi.STEP:
            result, _ = self._session.next_step()
        return self._end(result)

    def _end(self, result: int) -> bool:
        self.phase = Phase.OUTSIDE
        self.ending = result
        self.look_for_notice()
        self.close()
        if result == _abi.LEFT and self._options.exit_when_left:
            sys.exit(0)
        return False

    def hear_notices(self, function: Callable[[_abi.Notice], Any]) -> None:
        self.on_notice.append(function)
        self._end_signal.put_off(lambda: self.joined and self.ending is None and self._closer.alive)

    def _end_by_signal(self) -> None:
        """The notice was sent before the signal, on another way."""
        until = time.monotonic() + _NOTICE_PATIENCE_S
        while self.notice() is None and time.monotonic() < until:
            time.sleep(0.01)
        self.look_for_notice()
        self._end_signal.carry_out()

    def look_for_notice(self) -> None:
        """Tells the program of a notice to leave that it has not been told of. The state of the job is safe by then: a
        function may take its time, and would else keep all workers from their next step."""
        notice = self.notice()
        if notice is None or notice.decision == self._told_notice:
            return
        self._told_notice = notice.decision
        for function in self.on_notice:
            function(notice)

    def notice(self) -> Optional[_abi.Notice]:
        """The newest word on this worker's leaving; after the loop the last that was read."""
        if self._session is not None and self._closer.alive:
            self._notice = self._session.notice()
        return self._notice

    def answer(self, answer: str, until: Optional[float]) -> None:
        if self._session is None or not self._closer.alive:
            raise RuntimeError("a notice is answered inside the loop, or by a function given to job.on_notice()")
        self._session.answer(answer, until)

    def let_go(self) -> None:
        """The session is no longer this process's to close."""
        self._closer.detach()

    def close(self) -> None:
        if self._session is None or not self._closer.alive:
            return
        if self.phase is Phase.APPLIED:
            self._settle()
        self.phase = Phase.OUTSIDE
        self.let_go()
        if self._buckets is not None:
            self._buckets.release()  # before the session, whose memory contains the gradients
            self._buckets, self._buffer = None, None
        self._session.close()


def _close_quietly(session: _abi.Session, memory: Sequence[object]) -> None:
    with contextlib.suppress(_abi.TidepoolError):
        session.close()
    del memory  # had to live until here


def _leave_to_parent(stepper: weakref.ref[Stepper]) -> None:
    """In a forked process: the session's threads and connections are the parent's, which goes on with them."""
    mine = stepper()
    if mine is not None:
        mine.let_go()


@contextlib.contextmanager
def _scaled_rates(optimizer: torch.optim.Optimizer, factor: float) -> Iterator[None]:
    """The learning rates times `factor` for one step. PyTorch's SGD applies its rate to the velocity too, so that the
    runtime's momentum_factor, which is for velocities that are movements, has no place here."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * factor
    try:
        yield
    finally:
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate
