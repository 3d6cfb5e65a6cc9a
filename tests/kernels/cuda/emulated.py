"""A device without a GPU: kernels compiled for this processor, see emulator.h."""

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HEADER = Path(__file__).with_name("emulator.h")
COMPILER = shutil.which("g++")
_OPTIONS = ("-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-shared", "-fPIC")
_KERNEL = re.compile(
    r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(([^)]*)\)'
)


class Emulated:
    """Plays kernels on one core, thread by thread. Either the first or the last warps are ahead."""

    def __init__(self, *, last_first=False):
        self._last_first = last_first
        self._folder = Path(tempfile.mkdtemp(prefix="giro-emulated-"))

    def compile(self, source):
        without_shared = source.replace(
            "extern __shared__ __align__(16) unsigned char memory[];", ""
        )
        launchers = [launcher(*found) for found in _KERNEL.findall(source)]
        text = "\n".join([f'#include "{HEADER}"', without_shared, *launchers])
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        code, library = self._folder / f"{name}.cpp", self._folder / f"{name}.so"
        if not library.exists():
            code.write_text(text, encoding="utf-8")
            subprocess.run([COMPILER, *_OPTIONS, "-o", library, code], check=True)
        return ctypes.CDLL(str(library))

    def put(self, array):
        return np.array(array, order="C")

    def zeros(self, shape, kind):
        return np.zeros(shape, kind)

    def repeated(self, array, n):
        return np.repeat(array[None], n, axis=0)

    def address(self, array):
        return array.ctypes.data

    def get(self, array):
        return array.copy()

    def shared(self, kernels, function):
        needed = np.zeros(1, np.int32)
        kernels.launch_needs(1, 1, 0, 0, ctypes.c_void_p(needed.ctypes.data))
        assert needed[0] <= 227 * 1024
        return int(needed[0])

    def launch(self, kernels, step, blocks, shared, game, *rounds):
        function = getattr(kernels, f"launch_{step.function}")
        address = ctypes.c_void_p(game.ctypes.data)
        function(blocks, step.threads, shared, self._last_first, address, *rounds)

    def wait(self):
        pass

    def free(self):
        return 1 << 33


def launcher(name, parameters):
    """Return a function in C that plays all blocks of a kernel."""
    kinds = [kind_of(parameter) for parameter in parameters.split(",")]
    kept = [f"kept_{name}_{i}" for i in range(len(kinds))]
    variables = "".join(f"static {k} {v};\n" for k, v in zip(kinds, kept, strict=True))
    given = ", ".join(f"{k} a{i}" for i, k in enumerate(kinds))
    keep = " ".join(f"{v} = a{i};" for i, v in enumerate(kept))
    numbers = "unsigned blocks, unsigned threads, unsigned shared, int last_first"
    return (
        f"{variables}static void body_{name}() {{ {name}({', '.join(kept)}); }}\n"
        f'extern "C" void launch_{name}({numbers}, {given})\n'
        f"{{ {keep} launch(blocks, threads, shared, last_first, body_{name}); }}"
    )


def kind_of(parameter):
    words = parameter.replace("__restrict__", "").replace("*", " * ").split()
    return " ".join(words[:-1])
