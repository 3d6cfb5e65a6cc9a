"""Addresses of clusters."""

import socket
from urllib.parse import urlsplit

PATIENCE = 30.0  # seconds until a busy cluster has answered; where nobody listens it takes none


def reach(address: str) -> None:
    """Raise OSError or ValueError if nobody listens at an address such as tcp://host:8786.

    Dask and Ray would try for longer, and leave threads behind.
    """
    url = urlsplit(address if "://" in address else f"//{address}")
    if url.hostname is None or url.port is None:
        raise ValueError("an address has the form host:port or tcp://host:port")
    socket.create_connection((url.hostname, url.port), PATIENCE).close()
