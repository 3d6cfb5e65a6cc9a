"""The REST API of Azure AI Personalizer, so that programs made for it go on with giro."""

from giro.service.personalizer.door import routes

__all__ = ["routes"]
