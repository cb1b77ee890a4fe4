"""A training job as its program sees it: the loop is written for one worker, and runs with any number of workers."""

from __future__ import annotations

import logging
import types
from typing import Any, Callable, ClassVar, ContextManager, Iterator, Optional, Sequence, Union

import torch

from tidepool import _abi, _optimizer_state, _replica, _settings
from tidepool._loader import Collate, Fetcher, Loader
from tidepool._settings import JobOptions, LoopLength
from tidepool._stepping import Phase, Resize, Stepper

_log = logging.getLogger("tidepool")


class Job:
    """Created by tidepool.init(). Order of use: wrap(), register(), loader(), then the loop."""

    _newest: ClassVar[object] = None  # the mark of the job whose loop began last in this process

    def __init__(self, options: JobOptions) -> None:
        self._mark = object()
        self._file = _settings.read_job_file()
        self._stepper = Stepper(options, self._file)
        self._model: Optional[torch.nn.Module] = None
        self._optimizers: Sequence[torch.optim.Optimizer] = ()  # the optimizers passed to wrap()
        self._loader: Optional[Loader] = None
        self._dataset: Any = None  # of the loader
        self._made_with: dict[str, Optional[int]] = {}  # arguments of the loader

    # --- before the loop ----------------------------------------------------------------------------------------

    def wrap(self, model: torch.nn.Module, *optimizers: torch.optim.Optimizer) -> Any:
        """Returns `model` and the optimizers, the same objects, now part of the job: their state is shared with joining
        workers, the gradients are summed over the workers, and optimizer.step() applies a step that all workers have
        agreed on. The optimizers' state (momentum, averages) is created at once, and shared as it is at the first
        batch."""
        self._must_be_before_loop("wrap()")
        if self._model is not None:
            raise RuntimeError("job.wrap() is called once; give it all optimizers: job.wrap(model, first, second)")
        _check_kinds(model, optimizers)
        _check_parameters(model, optimizers)
        if not any(p.requires_grad for p in model.parameters()):
            raise ValueError("the model has no parameter to train")
        self._model = model
        self._optimizers = optimizers
        pieces = _replica.module_pieces("model", model)
        self._stepper.pieces += pieces
        self._stepper.averaged = [p for p in pieces if isinstance(p, _replica.TensorShadow) and p.is_average]
        for number, optimizer in enumerate(optimizers):
            self._take(f"optimizer{number}", optimizer)
            _override(self._stepper, optimizer)
        return (model, *optimizers)

    def _take(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        _optimizer_state.make_state(optimizer)  # refuses an unsuitable optimizer here
        self._stepper.optimizers[name] = optimizer

    def register(self, name: str, value: Any, *, capacity: Optional[int] = None) -> None:
        """Adds state to the replica: what a joining worker receives and what a repeated step starts from.

        All of it is copied at each step, except for an optimizer's tensors, which are shared in place: change those
        only after opt.step(), in the same iteration of the loop. Changes that an iteration without a completed step
        makes to a tensor, an array, a module or a scheduler are undone. Other objects have state_dict() and
        load_state_dict() or get_state() and set_state(), or are given as a pair of functions (get, set); for these,
        such an iteration's changes after opt.step() are undone and those before it stay, so that a generator draws
        another mask for each micro-batch. `capacity` is the largest size in bytes of their pickled state."""
        self._must_be_before_loop("register()")
        if not isinstance(name, str):
            raise TypeError(f"job.register() takes a name first, which is a text, and was given a {type(name).__name__}: "
                            'job.register("schedule", schedule)')
        taken = [*self._stepper.optimizers, *(piece.name for piece in self._stepper.pieces)]
        if any(other == name or other.startswith(name + ".") for other in taken):
            raise ValueError(f'"{name}" is registered already')
        if isinstance(value, torch.optim.Optimizer):
            self._take(name, value)
            return
        pieces = _replica.piece_of(name, value, capacity)
        self._stepper.pieces += pieces
        scheduler = hasattr(value, "optimizer")
        for piece in pieces:
            if isinstance(piece, _replica.PickleShadow) and not scheduler:
                self._stepper.with_turns.append(piece)
            else:
                self._stepper.with_steps.append(piece)

    def on_resize(self, function: Callable[[Resize], Any]) -> Callable[[Resize], Any]:
        """Calls `function` with a Resize before the first batch of a new generation; usable as a decorator."""
        _settings.must_take("job.on_resize()", "a Resize", function)
        self._stepper.on_resize.append(function)
        return function

    def on_notice(self, function: Callable[[_abi.Notice], Any]) -> Callable[[_abi.Notice], Any]:
        """Calls `function` with a Notice when this worker must leave (once the job's state is saved), or when its job
        is cancelled or out of time; usable as a decorator. The function may answer, and save what the job does not
        hold. SIGTERM, unless the program has its own handler, then ends the worker after the step under way and the
        function."""
        _settings.must_take("job.on_notice()", "a Notice", function)
        self._stepper.hear_notices(function)
        return function

    def batch_rule(self, function: _abi.BatchRule) -> _abi.BatchRule:
        """For `batch.on_resize: callback` of the job file: `function` receives a BatchQuestion when a generation begins
        and returns the samples per step and the factor of the learning rate. Rank 0 is asked, and its answer applies to
        all workers; usable as a decorator."""
        self._must_be_before_loop("batch_rule()")
        _settings.must_take("job.batch_rule()", "a BatchQuestion", function)
        self._stepper.batch_rule = function
        return function

    def loader(self, dataset: Any, batch_size: Optional[int] = None, *, epochs: Optional[int] = None,
               steps: Optional[int] = None, micro_batch: Optional[int] = None, collate_fn: Optional[Collate] = None,
               num_threads: int = 0) -> Loader:
        """Batches of a map-style dataset: each sample once per epoch, over all workers together.

        `batch_size` is that of a step over all workers (default: batch.global of the job file); each worker gets its
        share, in parts of at most `micro_batch` samples (default: batch.per_worker_max), whose gradients are summed.
        Ends after `epochs` (default 1) or after `steps`; inside `for epoch in job.epochs(n)` after each epoch.
        `collate_fn` makes a batch from a list of samples (default: as PyTorch's DataLoader). `num_threads` threads read
        the samples of a batch in parallel; with 0 the loop's own thread reads them one by one. No batch is read ahead.
        """
        asked = {"batch_size": batch_size, "epochs": epochs, "steps": steps, "micro_batch": micro_batch}
        if self._loader is not None:
            self._must_be_as_made(dataset, asked)
            return self._loader
        self._must_be_before_loop("loader()")
        if epochs is not None and steps is not None:
            raise ValueError("give epochs or steps, not both")
        batch_size, epochs = _count("batch_size", batch_size), _count("epochs", epochs)
        steps, micro_batch = _count("steps", steps), _count("micro_batch", micro_batch)
        if collate_fn is not None:
            _settings.must_take("collate_fn", "the list of a batch's samples", collate_fn)
        fetcher = Fetcher(dataset, collate_fn, _settings.whole_number("num_threads", num_threads, 0))
        length = LoopLength(samples=len(fetcher), global_batch=self._batch(batch_size),
                            epochs=epochs or (1 if steps is None else None), steps=steps,
                            micro_batch=micro_batch or self._file.per_worker_max)
        self._dataset = dataset
        self._made_with = {"batch_size": length.global_batch, "epochs": length.epochs, "steps": length.steps,
                           "micro_batch": length.micro_batch}
        self._loader = Loader(self._stepper, fetcher, length, self._join)
        return self._loader

    def _must_be_as_made(self, dataset: Any, asked: dict[str, Optional[int]]) -> None:
        """A later call of loader(), as in the body of a loop over epochs, asks for nothing else than the first."""
        if self._dataset is not dataset:
            raise RuntimeError("a job has one loader, of the training data; use a plain DataLoader for evaluation")
        for name, value in asked.items():
            if value is not None and value != self._made_with[name]:
                raise RuntimeError(f"a job has one loader, and it was made with {name}={self._made_with[name]}, which "
                                   f"cannot become {value} later")

    def _batch(self, asked: Optional[int]) -> int:
        told = self._file.global_batch
        if asked is None and told is None:
            raise ValueError("batch_size is needed: without a daemon there is no job file to take batch.global from")
        if asked is not None and told is not None and asked != told:
            _log.warning("the loop's batch_size is %d and the job file's batch.global %d: the loop's holds; say the same "
                         "in both, so that the engine plans with it", asked, told)
        return asked or told or 0

    def _join(self) -> None:
        if self._model is None:
            raise RuntimeError("job.wrap(model, opt) comes before the loop")
        assert self._loader is not None
        if Job._newest not in (None, self._mark) and _settings.has_agent():
            raise RuntimeError("this process is one worker of one job, and the loop of another tp.init() has begun in it: "
                               "call tp.init() once, and give job.wrap() one module that holds all models, with all "
                               "optimizers")
        Job._newest = self._mark
        _check_parameters(self._model, self._optimizers)  # some may have been unfrozen, or added with a new group
        self._stepper.join(self._model, self._loader.length)

    def epochs(self, count: int) -> Iterator[int]:
        """The numbers of the epochs up to `count`, starting with the one under way: a joining worker starts in the
        middle. Use it around a loop over the loader, which must be created before; code after that loop in the body
        still belongs to the epoch."""
        if self._loader is None:
            raise RuntimeError("make the loader before the loop over job.epochs()")
        if self._stepper.ending is not None:
            raise RuntimeError("the job is at its end, which the loop before has brought. A job has one loop over "
                               "job.epochs(): give it the number of all epochs, and decide by the epoch what each does")
        self._loader.count_epochs(_settings.whole_number("the number given to job.epochs()", count, 1))
        while self._loader.next():
            if self.epoch >= count:
                self._stepper.finish()
                return
            yield self.epoch
            if not self._stepper.given:
                raise RuntimeError("a turn of the loop over job.epochs() took no batch of the loader, so it would be "
                                   "repeated for ever: write `for batch in loader: ...` in its body, without a "
                                   "`continue` before it")

    def _must_be_before_loop(self, call: str) -> None:
        if self._stepper.joined:
            raise RuntimeError(f"job.{call} comes before the first batch")

    # --- inside the loop ----------------------------------------------------------------------------------------

    def report(self, loss: Union[torch.Tensor, float], **others: Any) -> None:
        """Reports this batch's loss for the job's page, which shows no loss without it. Before backward() it counts for
        this step, later for the next one."""
        if others:
            raise TypeError(f"job.report() takes the loss alone, job.report(loss=loss): write {', '.join(others)} to a "
                            "log of your own")
        try:
            value = float(loss.detach()) if isinstance(loss, torch.Tensor) else float(loss)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError("job.report() takes the loss as one number, or as a tensor that holds one") from error
        self._stepper.report(value)

    def no_sync(self) -> ContextManager[None]:
        """Use around every backward() of a step except the last: its gradients are accumulated and not yet summed over
        the workers."""
        return self._stepper.without_sum()

    def skip_step(self) -> None:
        """Instead of opt.step(): the samples count as used, and the parameters stay. All workers must skip alike, so
        decide by values that are equal on all, such as the summed gradients."""
        self._stepper.apply(lambda: None)

    def finish(self) -> None:
        """Ends the loop after this step. All workers must call it at the same step: decide by job.step or
        job.mean_loss, which are equal on all."""
        if self._stepper.gathers_more:
            return  # the loop requests it again after the step's last micro-batch
        if self._stepper.phase not in (Phase.APPLIED, Phase.RETRY):
            raise RuntimeError("job.finish() comes after opt.step()")
        self._stepper.finish_asked = self._stepper.phase is Phase.APPLIED  # or again after the retry

    def answer_notice(self, answer: str, *, until: Optional[float] = None) -> None:
        """Answers the notice: "saving", "done" (the worker may be ended at once), "until" with the time in seconds
        since 1970 until which it needs to stay, granted up to the limit of the job's tenant, or "refuse", which is
        granted for a notice whose reason is AskedToLeave, and otherwise denied. job.notice shows the decision once
        `heard` equals `said`."""
        self._stepper.answer(answer, until)

    # --- what there is to know ----------------------------------------------------------------------------------

    @property
    def has_daemon(self) -> bool:
        """True if an agent started this process, with a job file; False when the script runs alone."""
        return self._file.global_batch is not None

    @property
    def notice(self) -> Optional[_abi.Notice]:
        """The notice that this worker must leave; None: it stays."""
        return self._stepper.notice()

    @property
    def rank(self) -> int:
        """0 <= rank < size; changes with the generation. 0 before the first batch."""
        return self._stepper.step.rank if self._stepper.step else 0

    @property
    def size(self) -> int:
        """The number of workers."""
        return self._stepper.step.size if self._stepper.step else 1

    @property
    def generation(self) -> int:
        """The number of the membership under way; grows with every change."""
        return self._stepper.step.generation if self._stepper.step else 0

    @property
    def step(self) -> int:
        """Steps of all workers together, including the one under way as soon as it is applied."""
        return self._stepper.committed + (1 if self._stepper.phase is Phase.APPLIED else 0)

    @property
    def epoch(self) -> int:
        """Of the step under way, from 0."""
        return self._stepper.step.epoch if self._stepper.step else 0

    @property
    def batch_size(self) -> int:
        """Samples per step over all workers at this size; 0 before the first batch."""
        return self._stepper.step.global_batch if self._stepper.step else 0

    @property
    def mean_loss(self) -> float:
        """The mean loss over the samples of all workers in the last agreed step, also if this worker joined after it.
        NaN before the first report()."""
        return self._stepper.mean_loss

    @property
    def noise_scale(self) -> Optional[float]:
        """The gradient noise scale in samples (McCandlish et al., arXiv:1812.06162): a batch far above it wastes
        samples, one far below it wastes time. None while it is unknown."""
        scale = self._stepper.step.noise_scale if self._stepper.step else -1.0
        return scale if scale >= 0 else None

    @property
    def finished(self) -> bool:
        """All workers have reached the end together."""
        return self._stepper.ending == _abi.FINISHED

    @property
    def left(self) -> bool:
        """The job continues without this worker, on an order of the daemon."""
        return self._stepper.ending == _abi.LEFT

    def close(self) -> None:
        """Ends this worker's part. Called automatically at the end of the loop and of the program."""
        self._stepper.close()


def _count(name: str, value: Optional[int]) -> Optional[int]:
    """An argument that may be left out."""
    return None if value is None else _settings.whole_number(name, value, 1)


def _check_kinds(model: Any, optimizers: Sequence[Any]) -> None:
    """The model first, then optimizers, one by one."""
    right = "model, opt = job.wrap(model, opt)"
    if isinstance(model, torch.optim.Optimizer):
        raise TypeError(f"job.wrap() takes the model first and then its optimizers: {right}")
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"the first argument of job.wrap() is a {type(model).__name__}; it must be the model, a "
                        f"torch.nn.Module: {right}")
    if not optimizers:
        raise TypeError(f"job.wrap() needs the optimizer too: {right}")
    for optimizer in optimizers:
        if isinstance(optimizer, (list, tuple, dict)):
            raise TypeError("job.wrap() takes optimizers one by one, not in a " + type(optimizer).__name__ +
                            ": job.wrap(model, first, second)")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"job.wrap() was given a {type(optimizer).__name__} as an optimizer; it must be a "
                            f"torch.optim.Optimizer: {right} (schedulers and other state: job.register(name, thing))")


def _check_parameters(model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> None:
    known = {id(parameter) for parameter in model.parameters()}
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            if any(id(parameter) not in known for parameter in group["params"]):
                raise ValueError("a parameter of the optimizer does not belong to the model: wrap the module that holds "
                                 "all of them")
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and parameter.dtype != torch.float32:
            raise TypeError(f'"{name}" is {parameter.dtype}: gradients are summed as float32; use model.float()')


def _override(stepper: Stepper, optimizer: torch.optim.Optimizer) -> None:
    """step() and zero_grad() of this one optimizer go through the stepper."""
    original, zero = optimizer.step, optimizer.zero_grad

    def step(self: torch.optim.Optimizer, closure: Optional[Callable[[], Any]] = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        stepper.apply(original, self)
        _mark_called(self)
        return loss

    # Keeps the marks that a scheduler created earlier has set and checks.
    step.__dict__.update(getattr(original, "__dict__", {}))
    optimizer.step = types.MethodType(step, optimizer)  # type: ignore[assignment]
    optimizer.zero_grad = (  # type: ignore[assignment]
        lambda *args, **named: stepper.zero_grad(lambda: zero(*args, **named)))


def _mark_called(optimizer: torch.optim.Optimizer) -> None:
    """What a scheduler looks at to warn that it came before the optimizer, of PyTorch 1 and 2: a turn that completes no
    step does not reach the method of PyTorch's that sets it."""
    if getattr(optimizer, "_step_count", None) == 0:
        setattr(optimizer, "_step_count", 1)
    setattr(optimizer, "_opt_called", True)
