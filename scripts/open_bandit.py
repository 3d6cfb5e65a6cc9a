"""Fetch the package obp into a temporary folder and compare its estimates with ours.

It holds a sample of the Open Bandit data (Saito et al., 2020), which is not ours to ship: the
folder is deleted at the end. An argument names a package unpacked before; then nothing is fetched.
"""

import itertools
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from giro.seeds import stream

ROOT = Path(__file__).parents[1]
PACKAGE = "obp==0.4.1"


def main() -> int:
    """Return the status of the comparison."""
    if len(sys.argv) > 1:
        return compared(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        return compared(fetched(Path(folder)))


def fetched(folder: Path) -> Path:
    """Return the package, unpacked but not installed: it asks for versions of years ago."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--dest", str(folder), PACKAGE], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder / "obp"


def compared(package: Path) -> int:
    """Show the estimates of both, then run the tests that hold them to each other."""
    os.environ["OBP_FOLDER"] = str(package.resolve())
    sys.path.insert(0, str(ROOT / "tests"))
    from evaluation.open_bandit_pipeline import (  # noqa: PLC0415  # reads OBP_FOLDER
        N_ITEMS,
        estimates,
        laws,
        sample,
    )

    for log, campaign in itertools.product(("random", "bts"), N_ITEMS):
        for policy, law in laws(N_ITEMS[campaign], stream(0)).items():
            for name, (ours, theirs) in estimates(sample(log, campaign), law).items():
                line = f"{log}/{campaign}", policy, name, f"{ours:.12f}", f"{theirs:.12f}"
                far = abs(ours - theirs) / abs(theirs)
                sys.stdout.write("{:<14}{:<9}{:<7}{:<17}{:<17}".format(*line) + f"{far:.1e}\n")
    test = "tests/evaluation/readers/test_open_bandit_pipeline.py"
    pytest = [sys.executable, "-m", "pytest", "-q", test]
    return subprocess.run(pytest, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
