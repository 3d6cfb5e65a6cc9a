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
_SIGNATURE = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)')


class Emulated:
    """Plays kernels on one core, thread by thread."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.gettempdir()) / "giro-emulated"
        self._folder.mkdir(exist_ok=True)

    def compile(self, source):
        text = f'#include "{HEADER}"\n' + source.replace(
            "extern __shared__ __align__(16) unsigned char memory[];", ""
        )
        launchers = []
        for name, parameters in _SIGNATURE.findall(source):
            kinds = [part.rsplit(" ", 1)[0].replace("__restrict__", "") for part in parameters.split(",")]
            names = [f"a{i}" for i in range(len(kinds))]
            kept = "".join(f"static {k.strip()}{'*' if '*' in p else ''} s_{name}_{n};" for k, p, n in zip(kinds, parameters.split(","), names) if False)
            members = "; ".join(f"static {_plain(p)} {name}_{n}" for p, n in zip(parameters.split(","), names))
            assign = " ".join(f"{name}_{n} = {n};" for n in names)
            call = ", ".join(f"{name}_{n}" for n in names)
            formal = ", ".join(f"{_plain(p)} {n}" for p, n in zip(parameters.split(","), names))
            launchers.append(
                f"{members};\nstatic void body_{name}() {{ {name}({call}); }}\n"
                f'extern "C" void launch_{name}(unsigned blocks, unsigned threads, {formal}) '
                f"{{ {assign} launch(blocks, threads, body_{name}); }}"
            )
        text += "\n" + "\n".join(launchers)
        digest = hashlib.sha256(text.encode() + HEADER.read_bytes()).hexdigest()[:16]
        library = self._folder / f"{digest}.so"
        if not library.exists():
            code = library.with_suffix(".cpp")
            code.write_text(text)
            made = library.with_suffix(".tmp")
            subprocess.run(
                [COMPILER, "-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-shared", "-fPIC", "-o", made, code], check=True
            )
            made.replace(library)
        return ctypes.CDLL(str(library))

    def put(self, array):
        return np.array(array, order="C")

    def zeros(self, shape, kind):
        return np.zeros(shape, kind)

    def address(self, array):
        return array.ctypes.data

    def get(self, array):
        return array.copy()

    def shared(self, kernels, function):
        out = np.zeros(1, np.int32)
        kernels.launch_needs(1, 1, ctypes.c_void_p(out.ctypes.data))
        assert out[0] <= 256 * 1024
        return int(out[0])

    def launch(self, kernels, step, blocks, shared, game, *rounds):
        function = getattr(kernels, f"launch_{step.function}")
        function(blocks, step.threads, ctypes.c_void_p(game.ctypes.data), *rounds)

    def wait(self):
        pass


def _plain(parameter):
    words = parameter.replace("__restrict__", "").replace("*", " * ").split()
    return " ".join(words[:-1])
