"""A shop with one page. A bandit chooses which of its three variants a visitor sees."""

import os
from pathlib import Path

from jinja2 import Template
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

import giro

PAGE = Template(Path(__file__).with_name("page.html").read_text("utf-8"), autoescape=True)
client = giro.AsyncClient(os.environ["GIRO_URL"])  # the key is in GIRO_KEY
bandit = client.bandit("page", baseline="plain")  # shown while nobody answers at GIRO_URL


async def show(request: Request) -> HTMLResponse:
    """Choose a variant. The page holds the id of the decision, for its buttons."""
    decision = await bandit.decide()
    return HTMLResponse(PAGE.render(variant=decision.arm, id=decision.id))


async def buy(request: Request) -> HTMLResponse:
    """Reward the decision with 1."""
    await bandit.reward(request.query_params["id"], 1.0)
    return HTMLResponse("Thank you! <a href='/'>Another visitor comes in</a>")


async def leave(request: Request) -> HTMLResponse:
    """Reward the decision with 0."""
    await bandit.reward(request.query_params["id"], 0.0)
    return HTMLResponse("See you! <a href='/'>Another visitor comes in</a>")


app = Starlette(
    routes=[
        Route("/", show),
        Route("/buy", buy, methods=["POST"]),
        Route("/leave", leave, methods=["POST"]),
    ]
)
