"""A web app around one bandit, which each of its workers opens. `stores.py` asks it."""

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

from giro import Bandit

ARMS = [f"arm {i}" for i in range(10)]
NUMBERS = 20  # of a context, where the policy uses one

policy = os.environ["POLICY"]
bandit = Bandit(ARMS, policy, name="b", store=os.environ["STORE"])
bandit.warm_up([0.5] * NUMBERS if policy == "default" else None)


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Answer `/decide`, whose body is a context or null, and `/reward`, whose body is an id."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        bandit.close()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    given = json.loads(body)
    if scope["path"] == "/decide":
        answer = (await bandit.decide_async(given)).id.encode()
    else:
        await bandit.reward_async(given, 1.0)
        answer = b""
    headers = [(b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
