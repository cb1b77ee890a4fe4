"""SIGTERM, by which a worker is ended whose job is cancelled or out of time: nothing of it is kept, but a program that
wants to hear of its notice hears of it first.

Rule: only a loop that is running puts the signal off, until its step is over; a process forked from it never does."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, Callable


class EndSignal:
    def __init__(self) -> None:
        self.came = False
        self._is_in_loop: Callable[[], bool] = lambda: False
        self._process = os.getpid()

    def put_off(self, is_in_loop: Callable[[], bool]) -> None:
        """Where the program has a handler of its own, or is not on its main thread, the signal stays its own."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._is_in_loop = is_in_loop
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._note)

    def carry_out(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    def _note(self, *_: Any) -> None:
        self.came = True
        if os.getpid() != self._process or not self._is_in_loop():
            self.carry_out()
