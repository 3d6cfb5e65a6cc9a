"""Memory that was freed: given back to the machine."""

import ctypes
import sys

_NONE_LEFT = 0  # bytes that the C library may keep at the end of what it has


def give_back() -> None:
    """Give the machine all memory that was freed, where the C library would keep it.

    glibc keeps what lies between pieces that are still used. Where bandits come and go in many
    threads, that is soon several times what is used.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
        if trim is not None:
            trim(ctypes.c_size_t(_NONE_LEFT))
