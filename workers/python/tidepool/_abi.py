"""workers/runtime/tidepool.h in Python: the structs, and one class whose methods are the calls.

A negative result becomes a TidepoolError with the library's own words. The memory handed to register() must stay in
place until close(); the caller of register() keeps it alive.
"""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Callable, Optional

from tidepool import _library

OK, STEP, FINISHED, LEFT, COMMIT, RETRY, NOTICE = range(7)
_ANSWERS = {"saving": 1, "done": 2, "until": 3, "refuse": 4}
_ON_RESIZE = ("constant", "linear", "sqrt", "adascale", "callback", "fixed_local")


class TidepoolError(RuntimeError):
    """A refusal or failure of the runtime, in a sentence that says what to do."""


class _Resize(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("size", ctypes.c_int32), ("step", ctypes.c_int64),
                ("noise_scale", ctypes.c_double), ("global_batch", ctypes.c_uint64), ("lr_factor", ctypes.c_double)]


_Rule = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Resize))


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("samples", ctypes.c_uint64), ("global_batch", ctypes.c_uint64),
                ("seed", ctypes.c_uint64), ("steps", ctypes.c_int64), ("on_resize", ctypes.c_int32),
                ("base_size", ctypes.c_int32), ("warmup_steps", ctypes.c_int32), ("per_worker_max", ctypes.c_uint64),
                ("resize_rule", _Rule), ("resize_user", ctypes.c_void_p), ("noise_every", ctypes.c_int32),
                ("work_samples", ctypes.c_uint64), ("global_batch_max", ctypes.c_uint64)]


class _Step(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("number", ctypes.c_int64), ("epoch", ctypes.c_int64),
                ("samples", ctypes.POINTER(ctypes.c_uint64)), ("sample_count", ctypes.c_size_t),
                ("rank", ctypes.c_int32), ("size", ctypes.c_int32), ("generation", ctypes.c_uint32),
                ("global_batch", ctypes.c_uint64), ("lr_factor", ctypes.c_double), ("momentum_factor", ctypes.c_double),
                ("noise_scale", ctypes.c_double)]


class _Totals(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("samples", ctypes.c_uint64), ("mean_loss", ctypes.c_double)]


class _LeaveNotice(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("by_unix_ms", ctypes.c_int64), ("said", ctypes.c_int32),
                ("heard", ctypes.c_int32), ("granted", ctypes.c_int32), ("decision", ctypes.c_char * 24),
                ("reason", ctypes.c_char * 48), ("sentence", ctypes.c_char * 256)]


@dataclasses.dataclass(frozen=True)
class Notice:
    """This worker must leave. `by`: when its process is killed, in seconds since 1970; granted answers postpone it.
    `reason` is a code such as "Preempted", `sentence` the same in words, `decision` the id of the decision. `said`
    counts this worker's answers, `heard` those that the daemon has decided on, and `granted` says whether the newest of
    these was granted."""
    by: float
    reason: str
    sentence: str
    decision: str
    said: int
    heard: int
    granted: bool


@dataclasses.dataclass(frozen=True)
class BatchQuestion:
    """The input of a program's own batch rule when a generation begins. `noise_scale` in samples, None: not known yet;
    `batch_size` and `lr_factor` are the previous ones, 0 and 1 at the start."""
    size: int
    step: int
    noise_scale: Optional[float]
    batch_size: int
    lr_factor: float


BatchRule = Callable[[BatchQuestion], tuple[int, float]]  # samples per step, factor of the learning rate


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of a session. `samples` in one epoch; `global_batch` samples per step over all workers, at `base_size`
    workers; `steps` 0 = until finish(), with `work_samples` of all epochs if they are known (else 0); `on_resize`: how
    batch and learning rate follow the size, as in the job file; `global_batch_max`: the largest batch, 0 = no limit;
    `per_worker_max` samples that a worker computes at once, 0 = no limit; the gradient noise is measured in every
    `noise_every`-th step."""
    samples: int
    global_batch: int
    seed: int = 1
    steps: int = 0
    on_resize: str = "constant"
    base_size: int = 1
    warmup_steps: int = 0
    per_worker_max: int = 0
    noise_every: int = 0
    work_samples: int = 0
    global_batch_max: int = 0


@dataclasses.dataclass(frozen=True)
class Step:
    """One step's share of this worker. `number` counts the committed steps before it; `lr_factor` multiplies the
    learning rate in this step; `noise_scale` is negative as long as it is not known."""
    number: int
    epoch: int
    samples: list[int]
    rank: int
    size: int
    generation: int
    global_batch: int
    lr_factor: float
    noise_scale: float


@dataclasses.dataclass(frozen=True)
class Totals:
    """Over all workers: divide the summed gradient by `samples`."""
    samples: int
    mean_loss: float


def _library_with_types() -> ctypes.CDLL:
    library = _library.load()
    try:
        _give_types(library)
    except AttributeError as error:
        raise _library.LibraryNotFound(f"the library is older than this package: {error}") from None
    return library


def _give_types(library: ctypes.CDLL) -> None:
    session = ctypes.c_void_p
    library.tidepool_last_error.restype = ctypes.c_char_p
    library.tidepool_open.argtypes = [ctypes.POINTER(_Options), ctypes.POINTER(session)]
    library.tidepool_register.argtypes = [session, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    library.tidepool_gradients.argtypes = [session, ctypes.c_size_t]
    library.tidepool_gradients.restype = ctypes.c_void_p
    library.tidepool_use_stream.argtypes = [session, ctypes.c_void_p]
    library.tidepool_register_device.argtypes = [session, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    library.tidepool_lend_gradients.argtypes = [session, ctypes.c_void_p, ctypes.c_size_t]
    library.tidepool_next_step.argtypes = [session, ctypes.POINTER(_Step)]
    library.tidepool_reduce.argtypes = [session, ctypes.c_double, ctypes.POINTER(_Totals)]
    for name in ("join", "commit", "finish", "close"):
        getattr(library, f"tidepool_{name}").argtypes = [session]
    library.tidepool_notice.argtypes = [session, ctypes.POINTER(_LeaveNotice)]
    library.tidepool_answer.argtypes = [session, ctypes.c_int32, ctypes.c_int64]
    library.tidepool_bucket_ready.argtypes = [session, ctypes.c_size_t, ctypes.c_size_t]


class Session:
    """A session of libtidepool. One thread at a time may call it."""

    def __init__(self, options: Options, rule: Optional[BatchRule] = None) -> None:
        """`rule` says the batch where options.on_resize is "callback"."""
        self._library = _library_with_types()
        self._handle: Optional[ctypes.c_void_p] = None
        self._step = _Step(struct_size=ctypes.sizeof(_Step))
        self._totals = _Totals(struct_size=ctypes.sizeof(_Totals))
        handle = ctypes.c_void_p()
        if options.on_resize not in _ON_RESIZE:
            raise TidepoolError(f"on_resize is {options.on_resize}: use one of {', '.join(_ON_RESIZE)}")
        given = {**dataclasses.asdict(options), "on_resize": _ON_RESIZE.index(options.on_resize)}
        self._rule = rule
        self._rule_error: Optional[Exception] = None
        self._c_rule = _Rule(self._ask) if rule is not None else _Rule(0)  # must live while the library may call it
        fields = _Options(struct_size=ctypes.sizeof(_Options), resize_rule=self._c_rule, **given)
        self._checked(self._library.tidepool_open(ctypes.byref(fields), ctypes.byref(handle)))
        self._handle = handle

    def _ask(self, _: object, asked: Any) -> None:
        """No exception passes through C: it is raised again where the library returns."""
        question = asked.contents
        noise = question.noise_scale if question.noise_scale >= 0 else None
        try:
            assert self._rule is not None
            batch_size, lr_factor = self._rule(BatchQuestion(question.size, question.step, noise, question.global_batch,
                                                             question.lr_factor))
            question.global_batch, question.lr_factor = int(batch_size), float(lr_factor)
        except Exception as error:  # noqa: BLE001: whatever the program's function raises
            self._rule_error = error
            question.global_batch = 0  # refused by the library

    def _checked(self, result: int) -> int:
        error, self._rule_error = self._rule_error, None
        if error is not None:
            raise error
        if result < 0:
            raise TidepoolError(self._library.tidepool_last_error().decode(errors="replace"))
        return result

    def register(self, name: str, address: int, length: int) -> None:
        """`length` bytes at `address` are part of a replica; before join()."""
        self._checked(self._library.tidepool_register(self._handle, name.encode(), address, length))

    def gradients(self, count: int) -> int:
        """The address of the buffer that reduce() sums: `count` floats."""
        address = self._library.tidepool_gradients(self._handle, count)
        if not address:
            raise TidepoolError(self._library.tidepool_last_error().decode(errors="replace"))
        return int(address)

    def use_stream(self, stream: int) -> None:
        """What follows means what this CUDA stream holds by then."""
        self._checked(self._library.tidepool_use_stream(self._handle, stream))

    def register_device(self, name: str, address: int, length: int) -> None:
        """register() of memory on the GPU."""
        self._checked(self._library.tidepool_register_device(self._handle, name.encode(), address, length))

    def lend_gradients(self, address: int, count: int) -> None:
        """Instead of gradients(): `count` floats on the GPU, which live until close()."""
        self._checked(self._library.tidepool_lend_gradients(self._handle, address, count))

    def join(self) -> None:
        """Waits for the first generation and its state."""
        self._checked(self._library.tidepool_join(self._handle))

    def next_step(self) -> tuple[int, Optional[Step]]:
        """(STEP, the step), or (FINISHED or LEFT, None)."""
        result = self._checked(self._library.tidepool_next_step(self._handle, ctypes.byref(self._step)))
        if result != STEP:
            return result, None
        step = self._step
        return result, Step(number=step.number, epoch=step.epoch, samples=step.samples[:step.sample_count],
                            rank=step.rank, size=step.size, generation=step.generation, global_batch=step.global_batch,
                            lr_factor=step.lr_factor, noise_scale=step.noise_scale)

    def bucket_ready(self, first: int, count: int) -> None:
        """These floats of the gradient buffer are final on this rank. The same calls in the same order on all ranks."""
        self._checked(self._library.tidepool_bucket_ready(self._handle, first, count))

    def reduce(self, loss_sum: float) -> Optional[Totals]:
        """The sums over all workers; None: a worker died, and next_step() gives the same samples again."""
        result = self._checked(self._library.tidepool_reduce(self._handle, loss_sum, ctypes.byref(self._totals)))
        return None if result == RETRY else Totals(self._totals.samples, self._totals.mean_loss)

    def commit(self) -> None:
        """The step has been applied to the registered memory."""
        self._checked(self._library.tidepool_commit(self._handle))

    def finish(self) -> None:
        """The last step is committed, on every worker alike."""
        self._checked(self._library.tidepool_finish(self._handle))

    def notice(self) -> Optional[Notice]:
        """That this worker has been told to leave, with the newest word on it."""
        told = _LeaveNotice(struct_size=ctypes.sizeof(_LeaveNotice))
        if self._checked(self._library.tidepool_notice(self._handle, ctypes.byref(told))) != NOTICE:
            return None
        return Notice(by=told.by_unix_ms / 1000, reason=told.reason.decode(errors="replace"),
                      sentence=told.sentence.decode(errors="replace"), decision=told.decision.decode(), said=told.said,
                      heard=told.heard, granted=bool(told.granted))

    def answer(self, answer: str, until: Optional[float] = None) -> None:
        """To the notice: "saving", "done", "until" with a time in seconds since 1970, or "refuse"."""
        if answer not in _ANSWERS:
            raise TidepoolError(f"the answer to a notice is {answer}: use one of {', '.join(_ANSWERS)}")
        if (until is None) == (answer == "until"):
            raise TidepoolError('"until" comes with a time in seconds since 1970, and no other answer does')
        until_ms = 0 if until is None else int(until * 1000)
        self._checked(self._library.tidepool_answer(self._handle, _ANSWERS[answer], until_ms))

    def close(self) -> int:
        """Frees the session: OK if it was still training, FINISHED or LEFT. A second call does nothing."""
        handle, self._handle = self._handle, None
        if handle is None:
            return OK
        return self._checked(self._library.tidepool_close(handle))
