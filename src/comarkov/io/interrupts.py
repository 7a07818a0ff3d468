"""Ctrl-C and other requests to end: who answers them, and when."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers
LAST_SIGNAL = [int(signal.SIGINT)]  # that asked this process to end


@contextmanager
def handling_interrupts(handler: Handler, unless_handled: bool = False) -> Iterator[None]:
    """Let ``handler`` answer Ctrl-C within; afterwards the previous handler does so again.

    Nothing changes outside the main thread, which alone may set handlers, or if the previous
    handler was not set from Python, which could not restore it. With ``unless_handled`` any
    handler but Python's default stays, too: somebody else has set it.
    """
    previous = signal.getsignal(signal.SIGINT)
    is_handled = unless_handled and previous is not signal.default_int_handler
    is_main = threading.current_thread() is threading.main_thread()
    if previous is None or is_handled or not is_main:
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def delayed() -> Iterator[None]:
    """Let Ctrl-C wait until the step within is done, or has failed."""
    is_pressed = False

    def remember(signum: int, frame: FrameType | None) -> None:
        nonlocal is_pressed
        is_pressed = True

    try:
        with handling_interrupts(remember):
            yield
    finally:
        if is_pressed:
            signal.raise_signal(signal.SIGINT)


def end_like_ctrl_c() -> None:
    """Let the signals by which systems end programs do what Ctrl-C does.

    Signals that are ignored, as by nohup, or handled by somebody else stay so.
    """

    def forward(signum: int, frame: FrameType | None) -> None:
        LAST_SIGNAL[0] = signum
        signal.raise_signal(signal.SIGINT)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, forward)


def ended() -> tuple[str, int]:
    """What to print after Ctrl-C or another request to end, and the exit code, as of shells."""
    word = "Interrupted." if LAST_SIGNAL[0] == signal.SIGINT else "Terminated."
    return word, 128 + LAST_SIGNAL[0]
