"""The dashboard: pages that show the bandits of a store, and change them for who may."""

from giro.service.dashboard.door import routes

__all__ = ["routes"]
