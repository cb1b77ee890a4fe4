"""The state that a joining worker must receive to become a replica, in pieces of memory that the runtime knows.

Two kinds. The model's parameters and the tensors of optimizers are registered as they lie (`Memory`): nothing is
copied, and they may change only between opt.step() and the end of the loop's body. Everything else is kept as a copy
(`Shadow`): save() writes the object's state into the registered copy when a step is committed, restore() puts it back
when a step must be done again or the state came from another worker.
"""

from __future__ import annotations

import ctypes
import pickle
import re
from typing import Any, Callable, Optional, Protocol

import torch

from tidepool import _device

Getter = Callable[[], Any]
Setter = Callable[[Any], Any]

_LENGTH_BYTES = 8
_CAPACITY_MIN = 64 << 10


class Piece(Protocol):
    """One registered range of memory, which stays where it is as long as the piece lives."""
    name: str
    address: int
    length: int
    on_gpu: bool

    def check(self) -> None:
        """Raises if the object no longer lies in the registered memory."""

    def save(self) -> None:
        """The object's state goes into the registered memory."""

    def restore(self) -> None:
        """The registered memory goes into the object."""


class Memory:
    """A tensor of the CPU or the GPU, as it lies."""

    def __init__(self, name: str, value: torch.Tensor, current: Getter) -> None:
        """`current` gives the tensor that should still lie there."""
        _device.refuse_unfit(name, value)
        self.name = name
        self._value = value  # keeps the memory alive
        self._current = current
        self.on_gpu = _device.on_gpu(value)
        self.address = value.data_ptr()
        self.length = value.numel() * value.element_size()

    def check(self) -> None:
        now = self._current()
        if now is not self._value and (now is None or now.data_ptr() != self.address):
            raise RuntimeError(f'"{self.name}" was replaced by another tensor: the workers share it in place, so change '
                               "it with in-place operations such as copy_(), and call load_state_dict() of an optimizer "
                               "before the loop")

    def save(self) -> None:
        pass

    def restore(self) -> None:
        pass


class TensorShadow:
    """A copy of a tensor that the program may change at any time, such as a running mean."""

    def __init__(self, name: str, live: Getter) -> None:
        self.name = name
        self._live = live
        self._copy = live().detach().clone().contiguous()
        _device.refuse_unfit(name, self._copy)
        self.on_gpu = _device.on_gpu(self._copy)
        self.address = self._copy.data_ptr()
        self.length = self._copy.numel() * self._copy.element_size()

    def check(self) -> None:
        pass

    def save(self) -> None:
        self._copy.copy_(self._live().detach())

    def restore(self) -> None:
        with torch.no_grad():
            self._live().copy_(self._copy)

    @property
    def is_average(self) -> bool:
        """Of a kind that workers can average: each has changed it by its own samples."""
        return bool(self._copy.is_floating_point())

    def count(self) -> int:
        return int(self._copy.numel())

    def tell_change(self, weight: float, out: torch.Tensor) -> None:
        """`out` becomes weight * (live - copy), as float32. Exactly 0 where nothing changed, be it infinite."""
        if weight == 0.0:
            out.zero_()
            return
        live = self._live().detach()
        change = torch.where(live == self._copy, torch.zeros_like(live), live - self._copy)
        out.copy_(change.reshape(-1)).mul_(weight)

    def take_change(self, change: torch.Tensor) -> None:
        """The live tensor becomes copy + change."""
        with torch.no_grad():
            self._live().copy_(self._copy + change.view(self._copy.shape).to(self._copy.dtype))


class PickleShadow:
    """A pickled copy of what `get` gives, in a range of fixed length; `set` takes it back.

    Only workers of the same job, which run the same program, write what is unpickled here.
    """

    on_gpu = False

    def __init__(self, name: str, get: Getter, set: Setter, capacity: Optional[int] = None) -> None:
        self.name = name
        self._get = get
        self._set = set
        self._noted: Optional[bytes] = None
        self._room_for(len(self._pickled()), capacity)
        self.save()

    def _room_for(self, needed: int, capacity: Optional[int]) -> None:
        # A power of two with room to grow, so that workers whose first states differ slightly agree on it.
        room = capacity or max(_CAPACITY_MIN, 1 << (2 * needed).bit_length())
        self._memory = bytearray(_LENGTH_BYTES + room)
        self._held = ctypes.c_char.from_buffer(self._memory)  # while it lives, the bytes keep their address
        self.address = ctypes.addressof(self._held)
        self.length = len(self._memory)

    def _pickled(self) -> bytes:
        return pickle.dumps(self._get(), protocol=pickle.HIGHEST_PROTOCOL)

    def check(self) -> None:
        pass

    def save(self) -> None:
        data = self._pickled()
        if _LENGTH_BYTES + len(data) > self.length:
            raise RuntimeError(f'the state of "{self.name}" has grown to {len(data)} bytes, and room was made for '
                               f"{self.length - _LENGTH_BYTES}: give job.register() a larger capacity")
        header = len(data).to_bytes(_LENGTH_BYTES, "little")
        self._memory[:_LENGTH_BYTES + len(data)] = header + data

    def restore(self) -> None:
        self._noted = None
        length = int.from_bytes(self._memory[:_LENGTH_BYTES], "little")
        self._set(pickle.loads(self._memory[_LENGTH_BYTES:_LENGTH_BYTES + length]))

    def note(self) -> None:
        """What follows, until undo(), is not to stay. Of several before one undo() the first counts."""
        if self._noted is None:
            self._noted = self._pickled()

    def undo(self) -> None:
        """The object is again as note() found it; it is left alone if it has not changed, or was not noted."""
        noted, self._noted = self._noted, None
        if noted is not None and self._pickled() != noted:
            self._set(pickle.loads(noted))


def module_pieces(name: str, module: torch.nn.Module) -> list[Piece]:
    """Parameters as they lie, buffers as copies, because a forward pass changes them before the step is agreed."""
    pieces: list[Piece] = []
    for key, parameter in module.named_parameters():
        pieces.append(Memory(f"{name}.{key}", parameter.data, _getter(module, key)))
    for key, _ in module.named_buffers():
        pieces.append(TensorShadow(f"{name}.{key}", _getter(module, key)))
    return pieces


def _getter(module: torch.nn.Module, key: str) -> Getter:
    path, _, attribute = key.rpartition(".")
    owner = module.get_submodule(path)
    return lambda: getattr(owner, attribute)


def piece_of(name: str, value: Any, capacity: Optional[int] = None) -> list[Piece]:
    """The pieces of anything that job.register() takes but optimizers. TypeError says what it takes."""
    if isinstance(value, torch.nn.Module):
        keys = [key for key, _ in (*value.named_parameters(), *value.named_buffers())]
        return [TensorShadow(f"{name}.{key}", _getter(value, key)) for key in keys]
    if isinstance(value, torch.Tensor):
        _device.refuse_unfit(name, value)
        return [TensorShadow(name, lambda: value)]
    if hasattr(value, "state_dict") and hasattr(value, "load_state_dict"):
        return [PickleShadow(name, value.state_dict, value.load_state_dict, capacity)]
    if hasattr(value, "get_state") and hasattr(value, "set_state"):
        return [PickleShadow(name, value.get_state, value.set_state, capacity)]
    if isinstance(value, tuple) and len(value) == 2 and callable(value[0]) and callable(value[1]):
        return [PickleShadow(name, value[0], value[1], capacity)]
    try:
        memoryview(value)
    except TypeError:
        raise TypeError(f'"{name}" is a {type(value).__name__}: register a tensor, an array, a module, an optimizer, an '
                        "object with state_dict() and load_state_dict() or get_state() and set_state(), or a pair of "
                        "functions (get, set)") from None
    memory = _bytes_of(name, value)
    return [TensorShadow(name, lambda: memory)]


def _bytes_of(name: str, value: Any) -> torch.Tensor:
    """A writable buffer such as a numpy array as it lies; as long as the tensor lives, it keeps its size."""
    view = memoryview(value)
    if view.readonly or not view.c_contiguous:
        raise TypeError(f'"{name}" must be a writable array without gaps')
    if "O" in re.sub(":[^:]*:", "", view.format):  # without the names of a record's fields
        raise TypeError(f'"{name}" holds Python objects, whose addresses mean nothing to another worker: give it a dtype '
                        "of numbers, or register a pair of functions (get, set)")
    if view.nbytes == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer((ctypes.c_char * view.nbytes).from_buffer(value), dtype=torch.uint8)
