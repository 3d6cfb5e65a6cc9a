"""Processes of this machine, for what does not compile.

Plain Python holds the interpreter lock, so threads would wait for each other.
"""

from joblib._parallel_backends import LokyBackend  # the one that joblib calls "loky"
from joblib.externals.loky.process_executor import TerminatedWorkerError

from giro.simulation.cluster import Backend, Cluster


def processes(jobs: int) -> Cluster:
    """Return as many processes, which start with the first run and are kept for a while."""
    return Cluster(
        Backend(make=LokyBackend, workers=jobs, streams=True, lost=(TerminatedWorkerError,))
    )
