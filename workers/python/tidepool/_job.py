"""A training job as its loop sees it: the loop is written for one worker, and runs with any number of them.

The rule that everything here keeps: a replica is exactly at a committed step whenever a worker dies. The step is
agreed on at the end of backward(); opt.step() applies it, or does nothing if a worker died meanwhile; and the step is
committed when the loop asks for its next batch. So what the loop's body does after opt.step() (a scheduler, an
average of the weights) belongs to the step.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import logging
import sys
import types
import weakref
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import torch

from tidepool import _abi, _optimizer_state, _replica, _settings
from tidepool._abi import TidepoolError
from tidepool._gradients import GradientBuckets, float_count
from tidepool._loader import Collate, Fetcher, parts_of

_log = logging.getLogger("tidepool")
# Averages of module buffers ride before the gradients, this small, so that they do not count in the gradient's noise.
_BUFFER_SCALE = 2.0 ** -40


class _Phase(enum.Enum):
    OUTSIDE = "outside"  # no step under way
    COMPUTING = "computing"  # the gradients are being gathered
    SUMMED = "summed"  # agreed on by all workers, to be applied
    APPLIED = "applied"  # to be committed
    RETRY = "retry"  # a worker died: to be done again


class _Progress(ctypes.Structure):
    """What a newcomer must know beside the state of the model; registered."""
    _fields_ = [("used", ctypes.c_int64), ("mean_loss", ctypes.c_double)]


@dataclasses.dataclass(frozen=True)
class Resize:
    """What an on_resize() function is told. `step`: committed steps so far; all of them with the old size."""
    old_size: int
    new_size: int
    rank: int
    generation: int
    step: int


@dataclasses.dataclass(frozen=True)
class JobOptions:
    """`loss`: "mean" if the loss is the mean over a batch's samples (PyTorch's default), "sum" if it is their sum.
    `warmup_steps`: over which a learning rate that grows with the number of workers (batch.on_resize of the job file)
    is reached. `bucket_mb`: gradients are handed to the sum in pieces of about so many MiB. `exit_when_left`: a worker that the
    job goes on without ends with exit code 0 inside the loader; otherwise its loop ends and `job.left` is true."""
    seed: int = 1
    loss: str = "mean"
    warmup_steps: int = 8
    bucket_mb: float = 4.0
    exit_when_left: bool = True


class Job:
    """Made by tidepool.init(). Order of use: wrap(), register(), loader(), then the loop."""

    def __init__(self, options: JobOptions) -> None:
        if options.loss not in ("mean", "sum"):
            raise ValueError(f'loss="{options.loss}": use "mean" or "sum"')
        self._options = options
        self._file = _settings.read_job_file()
        self._model: Optional[torch.nn.Module] = None
        self._optimizers: list[torch.optim.Optimizer] = []
        self._pieces: list[_replica.Piece] = []
        self._with_steps: list[_replica.Piece] = []  # schedulers and learning rates: one change a step
        self._progress = _Progress()
        self._callbacks: list[Callable[[Resize], Any]] = []
        self._loader: Optional[Loader] = None
        self._session: Optional[_abi.Session] = None
        self._buckets: Optional[GradientBuckets] = None
        self._step: Optional[_abi.Step] = None
        self._totals: Optional[_abi.Totals] = None
        self._phase = _Phase.OUTSIDE
        self._part_samples = 0  # of the micro-batch under way
        self._last_part = True
        self._loss_sum = 0.0
        self._loss_samples = 0
        self._committed = 0
        self._given = True  # the loop has seen the step under way
        self._finish_asked = False
        self._ending: Optional[int] = None

    # --- before the loop ----------------------------------------------------------------------------------------

    def wrap(self, model: torch.nn.Module, *optimizers: torch.optim.Optimizer) -> Any:
        """Gives back `model` and the optimizers, the same objects, now part of the job: their state is shared with
        newcomers, the gradients are summed over the workers, and optimizer.step() applies a step all have agreed on.
        The optimizers' state (momentum, averages) is made at once."""
        self._must_be_before_loop("wrap()")
        if self._model is not None:
            raise RuntimeError("job.wrap() is called once; give it all optimizers: job.wrap(model, first, second)")
        if not optimizers:
            raise TypeError("job.wrap() needs the optimizer too: model, opt = job.wrap(model, opt)")
        self._check_parameters(model, optimizers)
        self._model = model
        self._optimizers = list(optimizers)
        self._pieces += _replica.module_pieces("model", model)
        for number, optimizer in enumerate(optimizers):
            self._take(f"optimizer{number}", optimizer)
            _override_step(self, optimizer)
        return (model, *optimizers)

    def _take(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        _optimizer_state.make_state(optimizer)
        pieces = _optimizer_state.pieces(name, optimizer)
        self._pieces += pieces
        self._with_steps += [piece for piece in pieces if isinstance(piece, _replica.PickleShadow)]

    def _check_parameters(self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        known = {id(parameter) for parameter in model.parameters()}
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                if any(id(parameter) not in known for parameter in group["params"]):
                    raise ValueError("a parameter of the optimizer does not belong to the model: wrap the module that "
                                     "holds all of them")
        trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        if not trained:
            raise ValueError("the model has no parameter to train")
        for name, parameter in trained:
            if parameter.dtype != torch.float32:
                raise TypeError(f'"{name}" is {parameter.dtype}: gradients are summed as float32; use model.float()')

    def register(self, name: str, value: Any, *, capacity: Optional[int] = None) -> None:
        """More state of a replica: what a newcomer receives and a repeated step begins with.

        A CPU tensor, an array, a module's parameters and an optimizer's tensors are shared where they lie: change them
        only after opt.step(), in the same turn of the loop. An object with state_dict()/load_state_dict() or
        get_state()/set_state(), or a pair of functions (get, set), is copied at each step; `capacity` is the most
        bytes its pickled state may ever take."""
        self._must_be_before_loop("register()")
        if any(piece.name == name or piece.name.startswith(name + ".") for piece in self._pieces):
            raise ValueError(f'"{name}" is registered already')
        if isinstance(value, torch.optim.Optimizer):
            self._take(name, value)
            return
        pieces = _replica.piece_of(name, value, capacity)
        self._pieces += pieces
        if hasattr(value, "optimizer"):
            self._with_steps += pieces

    def on_resize(self, function: Callable[[Resize], Any]) -> Callable[[Resize], Any]:
        """`function` is called with a Resize before the first batch after a change of size; usable as a decorator."""
        self._callbacks.append(function)
        return function

    def loader(self, dataset: Any, batch_size: Optional[int] = None, *, epochs: Optional[int] = None,
               steps: Optional[int] = None, micro_batch: Optional[int] = None, collate_fn: Optional[Collate] = None,
               num_threads: int = 0) -> Loader:
        """Batches of a map-style dataset: each sample once an epoch, over all workers together.

        `batch_size` is the step's, over all workers (default: batch.global of the job file); each worker sees its
        share, in parts of at most `micro_batch` samples (default: batch.per_worker_max), whose gradients are summed.
        Ends after `epochs` (default 1) or after `steps`; inside `for epoch in job.epochs(n)` after each epoch."""
        if self._loader is not None:
            if self._loader.dataset is dataset:
                return self._loader
            raise RuntimeError("a job has one loader, of the training data; use a plain DataLoader for evaluation")
        self._must_be_before_loop("loader()")
        if epochs is not None and steps is not None:
            raise ValueError("give epochs or steps, not both")
        numbers = {"batch_size": batch_size, "epochs": epochs, "steps": steps, "micro_batch": micro_batch}
        for name, value in numbers.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; it must be 1 or more")
        batch = batch_size or self._file.global_batch
        if batch is None:
            raise ValueError("batch_size is needed: without a daemon there is no job file to take batch.global from")
        if self._file.global_batch not in (None, batch):
            _log.warning("the loop's batch_size is %d and the job file's batch.global %d: the loop's holds; say the same in "
                         "both, so that the engine plans with it", batch, self._file.global_batch)
        self._loader = Loader(self, dataset, Fetcher(dataset, collate_fn, num_threads), _Length(
            global_batch=batch, micro_batch=micro_batch or self._file.per_worker_max, epochs=epochs, steps=steps))
        return self._loader

    def epochs(self, count: int) -> Iterator[int]:
        """The numbers of the epochs up to `count`, from the one under way: a newcomer begins in the middle. Around a
        loop over the loader, which was made before; what follows that loop in the body still belongs to the epoch."""
        if self._loader is None:
            raise RuntimeError("make the loader before the loop over job.epochs()")
        self._loader.by_epoch = True
        while self._next():
            if self._current().epoch >= count:
                self._finish()
                return
            yield self._current().epoch

    def _must_be_before_loop(self, call: str) -> None:
        if self._session is not None:
            raise RuntimeError(f"job.{call} comes before the first batch")

    # --- inside the loop ----------------------------------------------------------------------------------------

    def report(self, loss: Union[torch.Tensor, float]) -> None:
        """This batch's loss, for the job's page. Before backward() it counts in this step, later in the next one's."""
        value = float(loss.detach()) if isinstance(loss, torch.Tensor) else float(loss)
        samples = max(1, self._part_samples)
        self._loss_sum += value * samples if self._options.loss == "mean" else value
        self._loss_samples += samples

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Around every backward() of a step but the last: its gradients are gathered and not yet summed."""
        buckets = self._buckets_in_loop()
        completes = buckets.completes
        buckets.arm(False)
        try:
            yield
        finally:
            buckets.arm(completes)

    def skip_step(self) -> None:
        """In place of opt.step(): the samples count as used, the parameters stay. All workers must skip alike, so
        decide by what is the same on all, such as the summed gradients."""
        self._apply(lambda: None)

    def finish(self) -> None:
        """The loop ends after this step. All workers must say so at the same step: decide by job.step or
        job.mean_loss, which are the same on all."""
        if self._phase not in (_Phase.APPLIED, _Phase.RETRY):
            raise RuntimeError("job.finish() comes after opt.step()")
        if self._phase is _Phase.APPLIED:
            self._finish_asked = True

    # --- what there is to know ----------------------------------------------------------------------------------

    @property
    def has_daemon(self) -> bool:
        """Started by an agent, with a job file; false when the script runs alone."""
        return self._file.global_batch is not None

    @property
    def rank(self) -> int:
        """0 <= rank < size; changes with the generation. Before the first batch 0."""
        return self._step.rank if self._step else 0

    @property
    def size(self) -> int:
        """The number of workers."""
        return self._step.size if self._step else 1

    @property
    def generation(self) -> int:
        return self._step.generation if self._step else 0

    @property
    def step(self) -> int:
        """Steps taken by all workers together, with the one under way as soon as it is applied."""
        return self._committed + (1 if self._phase is _Phase.APPLIED else 0)

    @property
    def epoch(self) -> int:
        return self._step.epoch if self._step else 0

    @property
    def mean_loss(self) -> float:
        """Over the samples of all workers in the last step that all agreed on."""
        return self._totals.mean_loss if self._totals else self._progress.mean_loss

    @property
    def noise_scale(self) -> Optional[float]:
        """The gradient noise scale in samples (McCandlish et al., arXiv:1812.06162): a batch far above it wastes
        samples, one far below it time. None as long as it is not known."""
        scale = self._step.noise_scale if self._step else -1.0
        return scale if scale >= 0 else None

    @property
    def finished(self) -> bool:
        """All workers have reached the end together."""
        return self._ending == _abi.FINISHED

    @property
    def left(self) -> bool:
        """The job goes on without this worker, as the daemon told."""
        return self._ending == _abi.LEFT

    # --- steps --------------------------------------------------------------------------------------------------

    def _current(self) -> _abi.Step:
        assert self._step is not None
        return self._step

    def _buckets_in_loop(self) -> GradientBuckets:
        if self._buckets is None or self._phase is not _Phase.COMPUTING:
            raise RuntimeError("this belongs into the loop over job.loader(), before the step's sum")
        return self._buckets

    def _share(self) -> int:
        return len(self._current().samples)

    def _join(self) -> None:
        if self._model is None:
            raise RuntimeError("job.wrap(model, opt) comes before the loop")
        assert self._loader is not None
        length = self._loader.length
        session = _abi.Session(_abi.Options(
            samples=len(self._loader.fetcher), global_batch=length.global_batch, seed=self._options.seed,
            steps=length.steps or 0, on_resize=self._file.on_resize, base_size=self._file.preferred or 1,
            warmup_steps=self._options.warmup_steps, per_worker_max=length.micro_batch or 0))
        self._session = session
        self._closer = weakref.finalize(self, _close_quietly, session, self._pieces)
        session.register("tidepool.progress", ctypes.addressof(self._progress), ctypes.sizeof(self._progress))
        for piece in self._pieces:
            piece.save()  # what was set since it was registered, such as a scheduler's first learning rate
            session.register(piece.name, piece.address, piece.length)
        self._make_buckets(self._model, session)
        session.join()

    def _make_buckets(self, model: torch.nn.Module, session: _abi.Session) -> None:
        """One buffer of the session's: first the module buffers that are averaged, then the gradients."""
        trained = [p for p in model.parameters() if p.requires_grad]
        self._frozen = [p for p in model.parameters() if not p.requires_grad]
        self._averaged = [b for b in model.buffers() if b.is_floating_point()]
        ahead = sum(b.numel() for b in self._averaged)
        floats = ahead + float_count(trained)
        memory = (ctypes.c_float * floats).from_address(session.gradients(floats))
        self._buffer = torch.frombuffer(memory, dtype=torch.float32)
        self._averages = self._buffer[:ahead]
        self._buckets = GradientBuckets(trained, self._buffer[ahead:], int(self._options.bucket_mb * (1 << 20)),
                                        lambda first, count: session.bucket_ready(ahead + first, count))
        self._buckets.on_complete = self._sum

    def _next(self) -> bool:
        """Settles the step before and begins the next; False when the loop is at its end."""
        if self._ending is not None:
            assert self._loader is not None
            if self._loader.by_epoch or self.left:
                return False
            raise RuntimeError("the job is finished. For several passes write: for epoch in job.epochs(3): for batch in "
                               "loader: ...")
        if self._session is None:
            self._join()
        elif not self._given:
            return True  # begun by epochs(), not yet seen by the loop
        retried = self._phase is _Phase.RETRY
        self._settle()
        if self._finish_asked:
            return self._finish()
        assert self._session is not None
        result, step = self._session.next_step()
        if step is None:
            return self._end(result)
        self._begin(step, retried)
        return True

    def _settle(self) -> None:
        """Commits the step before, if it was applied."""
        if self._phase is _Phase.COMPUTING:
            raise RuntimeError("each batch ends in opt.step(): this one's gradients were not applied, and the other workers "
                               "wait for them (job.skip_step() leaves the parameters as they are)")
        if self._phase is _Phase.SUMMED:
            raise RuntimeError("opt.step() is missing after backward() (job.skip_step() leaves the parameters as they are)")
        if self._phase is _Phase.APPLIED:
            assert self._session is not None and self._totals is not None and self._loader is not None
            self._progress.used = 0 if self._epoch_ends() else self._progress.used + self._totals.samples
            self._progress.mean_loss = self._totals.mean_loss
            for piece in self._pieces:
                piece.check()
                piece.save()
            self._session.commit()
            self._committed += 1
        self._phase = _Phase.OUTSIDE

    def _epoch_ends(self) -> bool:
        """The step that is applied holds the epoch's last sample."""
        if self._phase is not _Phase.APPLIED or self._totals is None or self._loader is None:
            return False
        return self._progress.used + self._totals.samples >= len(self._loader.fetcher)

    def _begin(self, step: _abi.Step, retried: bool) -> None:
        before, self._step = self._step, step
        self._committed = step.number
        new_generation = before is None or before.generation != step.generation
        if new_generation or retried:
            for piece in self._pieces:
                piece.restore()
        if new_generation and before is not None:
            change = Resize(old_size=before.size, new_size=step.size, rank=step.rank, generation=step.generation,
                            step=step.number)
            for function in self._callbacks:
                function(change)
        assert self._buckets is not None
        self._buckets.begin_step()
        self._phase = _Phase.COMPUTING
        self._given = False

    def _begin_part(self, samples: int, last: bool) -> None:
        assert self._buckets is not None
        self._given = True
        self._part_samples, self._last_part = samples, last
        weight = float(samples) if self._options.loss == "mean" else 1.0
        # Without samples of its own this worker computes on a borrowed one, and drops what comes of it.
        self._buckets.begin_part(weight if samples > 0 else 0.0, completes=last and samples > 0)

    def _end_part(self) -> None:
        """A micro-batch that does not end the step: what a scheduler did in the loop's body is undone."""
        for piece in self._with_steps:
            piece.restore()

    def _sum(self) -> None:
        """Agrees with the other workers on the step."""
        assert self._buckets is not None and self._session is not None
        self._buckets.flush()
        self._write_averages()
        totals = self._session.reduce(self._take_loss())
        self._buckets.summed = True
        if totals is None:
            self._buffer.zero_()
            self._phase = _Phase.RETRY
            return
        self._totals = totals
        self._buffer.mul_(1.0 / totals.samples)
        self._read_averages()
        self._phase = _Phase.SUMMED

    def _take_loss(self) -> float:
        mean = self._loss_sum / self._loss_samples if self._loss_samples > 0 else self._progress.mean_loss
        self._loss_sum, self._loss_samples = 0.0, 0
        return mean * self._share()

    def _write_averages(self) -> None:
        at = 0
        for buffer in self._averaged:
            flat = buffer.detach().reshape(-1)
            torch.mul(flat, _BUFFER_SCALE * self._share(), out=self._averages[at:at + flat.numel()])
            at += flat.numel()

    def _read_averages(self) -> None:
        at = 0
        for buffer in self._averaged:
            count = buffer.numel()
            buffer.detach().copy_(self._averages[at:at + count].view(buffer.shape) / _BUFFER_SCALE)
            at += count

    def _apply(self, step: Callable[[], Any], optimizer: Optional[torch.optim.Optimizer] = None) -> None:
        if self._phase is _Phase.COMPUTING:
            if not self._last_part:
                return  # a micro-batch: the step comes with its last one
            self._sum()
        if self._phase is _Phase.RETRY:
            return
        if self._phase is _Phase.OUTSIDE:
            raise RuntimeError("opt.step() belongs into the loop over job.loader()")
        if any(parameter.requires_grad for parameter in self._frozen):
            raise RuntimeError("a parameter was unfrozen after the loop began: its gradient would not be summed. Unfreeze "
                               "it before, and freeze it with a learning rate of 0")
        factor = self._current().lr_factor
        with _scaled_rates(optimizer, factor) if optimizer is not None and factor != 1.0 else contextlib.nullcontext():
            step()
        self._phase = _Phase.APPLIED

    def _zero_grad(self, zero: Callable[[], None]) -> None:
        if self._buckets is None:
            zero()
        else:
            self._buckets.zero()

    # --- the end ------------------------------------------------------------------------------------------------

    def _finish(self) -> bool:
        """The last step is committed, on every worker alike; False."""
        assert self._session is not None
        self._session.finish()
        result = _abi.STEP
        while result == _abi.STEP:
            result, _ = self._session.next_step()
        return self._end(result)

    def _end(self, result: int) -> bool:
        self._phase = _Phase.OUTSIDE
        self._ending = result
        self.close()
        if result == _abi.LEFT and self._options.exit_when_left:
            sys.exit(0)
        return False

    def close(self) -> None:
        """Ends this worker's part. Happens by itself at the end of the loop and of the program."""
        if self._session is None or not self._closer.alive:
            return
        if self._phase is _Phase.APPLIED:
            self._settle()
        self._closer.detach()
        if self._loader is not None:
            self._loader.fetcher.close()
        if self._buckets is not None:
            self._buckets.release()  # before the session, whose memory the gradients lie in
            self._buckets, self._buffer, self._averages = None, None, None
        self._session.close()


@dataclasses.dataclass(frozen=True)
class _Length:
    """Of a loader: what a step takes, and where the loop ends."""
    global_batch: int
    micro_batch: Optional[int]
    epochs: Optional[int]
    steps: Optional[int]


class Loader:
    """Made by job.loader(). Iterating it is the training loop; the batches are this worker's share."""

    def __init__(self, job: Job, dataset: Any, fetcher: Fetcher, length: _Length) -> None:
        self.dataset = dataset
        self.fetcher = fetcher
        self.length = length
        self.by_epoch = False
        self._job = job

    def __iter__(self) -> Iterator[Any]:
        job = self._job
        epochs = self.length.epochs or (1 if self.length.steps is None else None)
        while job._next():
            if not self.by_epoch and epochs is not None and job.epoch >= epochs:
                job._finish()
                return
            parts = parts_of(job._current().samples, self.length.micro_batch)
            for part in parts[:-1]:
                job._begin_part(len(part), last=False)
                yield self.fetcher.batch(part)
                job._end_part()
            job._begin_part(len(parts[-1]), last=True)
            yield self.fetcher.batch(parts[-1] or [0])
            if self.by_epoch and job._epoch_ends():
                return


def _close_quietly(session: _abi.Session, pieces: Sequence[_replica.Piece]) -> None:
    with contextlib.suppress(TidepoolError):
        session.close()
    del pieces  # lived until here, because the session points into them


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


def _override_step(job: Job, optimizer: torch.optim.Optimizer) -> None:
    original = optimizer.step

    def step(self: torch.optim.Optimizer, closure: Optional[Callable[[], Any]] = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        job._apply(original, self)
        return loss

    # With the marks of a scheduler that was made before, which looks for them.
    step.__dict__.update(getattr(original, "__dict__", {}))
    optimizer.step = types.MethodType(step, optimizer)  # type: ignore[method-assign]
    zero = optimizer.zero_grad
    optimizer.zero_grad = lambda *args, **named: job._zero_grad(lambda: zero(*args, **named))  # type: ignore
