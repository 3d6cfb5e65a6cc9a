"""Which tests run in the same process, so that what they share is made once.

All tests of a policy do, because it takes seconds to compile one, and so do all tests of one
cluster or of one copy of the package. Other tests share the kernels and fixtures of their file,
unless they do all their work in processes of their own: such a file would keep one of two cores
busy for long.
"""

import re
from typing import Any

from xdist.scheduler import LoadScopeScheduling

from giro import Policy

TOGETHER = re.compile(
    r"/(?:test_)?(engines)(?:\.py|/test_dask\.py)|_of_(contributing)_|test_rand_ucb.*-(auto)\]"
)
SAME = {"auto": "default"}  # the model of that policy
ALONE = re.compile(r"test_(?:examples|extras|pages|main_process|processes|readme)\.py")
LONG = re.compile("examples|own-model|no_extra|warm_start|guard|usage|readme_run|figures")
LONGEST_FIRST = sorted(Policy.known(), key=len, reverse=True)
POLICY = re.compile(rf"\[(?:.*?[- ])??({'|'.join(LONGEST_FIRST)})(?=[]: -])")


def group_of(test: str) -> str:
    """Return what tests must have in common to run in the same process.

    >>> group_of("contract/test_saved.py::test_it[loaded-thompson binary]")
    'thompson'
    >>> group_of("test_it.py::test_it[0-lin-ucb:scale=1]")
    'lin-ucb'
    >>> group_of("models/test_it.py::test_giro[0]")
    'models/test_it.py'
    >>> group_of("test_readme.py::test_it")
    'test_readme.py::test_it'
    """
    found = TOGETHER.search(test) or POLICY.search(test)
    alone = test if ALONE.search(test) else test.split("::", maxsplit=1)[0]
    return SAME.get(name := found[found.lastindex or 0], name) if found else alone


class _ByGroup(LoadScopeScheduling):
    """Gives groups to processes, those of most tests first, and of single tests long ones first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def schedule(self) -> None:
        is_first = self.collection is None
        super().schedule()
        if is_first:
            singles = [group for group, tests in self.workqueue.items() if len(tests) == 1]
            for group in sorted(singles, key=lambda group: LONG.search(group) is None):
                self.workqueue.move_to_end(group)


def scheduler(config: Any, log: Any) -> Any:
    """Return what tells pytest-xdist the process of each test."""
    return _ByGroup(config, log)
