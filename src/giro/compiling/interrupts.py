"""Ctrl+C while a kernel is compiled or loaded: it waits until that is done.

LLVM asks Python for machine code that is on disk, and hands over what it made. Python handles a
signal as soon as its own code runs, thus in these calls, from which no exception gets out: it is
lost, and LLVM takes an empty module in place of the kernel. The next call then jumps to address 0.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Call the handler of SIGINT after the block, once, if the signal comes inside.

    Python handles signals in the main thread alone. Elsewhere nothing has to wait.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *call: waiting.append(call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[-1])
