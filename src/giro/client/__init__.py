"""Clients of `giro serve`: a bandit over HTTP that goes on while the service is away."""

from giro.errors import needs_extra

with needs_extra("giro.Client", "httpx", extra="client"):
    import httpx as _httpx  # noqa: F401  # to say so here

from giro.client.aio import AsyncClient, AsyncRemoteBandit
from giro.client.answers import Decision
from giro.client.sync import Client, RemoteBandit
from giro.client.waiting import Refused

__all__ = ["AsyncClient", "AsyncRemoteBandit", "Client", "Decision", "Refused", "RemoteBandit"]
