"""Which language model should answer? A bandit learns it from what people like and what it costs.

    giro serve                                   # in another terminal; it shows a key
    GIRO_KEY=... python examples/llm_router/router.py

The bandit sees features of the prompt. Its reward is the quality of the answer less its price. The
table compares it with each model alone, on the prompts after it has learned from as many.
"""

import argparse
import secrets
import time
from collections import Counter
from collections.abc import Mapping

import numpy as np
from simulated import MODELS, Prompt, ask, cents, prompts

import giro
from giro.seeds import stream

WORTH = 2.0  # cents that a good answer is worth


def features(text: str) -> dict[str, str | int | bool]:
    """Return what can be seen of a prompt without a model."""
    words = text.split()
    return {
        "begins": words[0].lower(),
        "words": len(words),
        "has code": "`" in text or "python" in text.lower(),
        "has formulas": any(sign in text for sign in "<=>"),
    }


def play(client: giro.Client, asked: list[Prompt], rng: np.random.Generator) -> list[str]:
    """Let the bandit choose a model for each prompt, and return the models."""
    name = f"llm-{secrets.token_hex(4)}"  # a new one each time
    bandit = client.create(name, list(MODELS), "lin-ucb:scale=0.5", reward_range=(-1, 1))
    chosen = []
    for prompt in asked:
        decision = bandit.decide(features(prompt.text), baseline="large")
        answer = ask(decision.arm, prompt, rng)
        bandit.reward(decision.id, answer.quality - answer.cents / WORTH)
        chosen.append(decision.arm)
        while len(chosen) == 1 and not bandit.info()["ready"]:
            time.sleep(0.1)  # the policy is compiled for contexts like the first
    return chosen


def expected(model: str, prompt: Prompt) -> float:
    """Return the mean reward, which only a simulation knows."""
    return MODELS[model].quality[prompt.kind] - cents(model, prompt) / WORTH


def table(ways: Mapping[str, list[str]], asked: list[Prompt]) -> str:
    """Return what the models chosen in different ways earn and cost, as lines of text."""
    lines = ["answered by   reward   cents   models"]
    for way, models in ways.items():
        pairs = list(zip(models, asked, strict=True))
        reward = np.mean([expected(model, prompt) for model, prompt in pairs])
        price = np.mean([cents(model, prompt) for model, prompt in pairs])
        counts = ", ".join(f"{model} {n}" for model, n in Counter(models).most_common())
        lines.append(f"{way:12}  {reward:6.3f}   {price:5.3f}   {counts}")
    return "\n".join(lines)


def main() -> None:
    """Answer prompts, and print what the later half of them brought."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--url", default="http://127.0.0.1:8720", help="of giro serve")
    arguments.add_argument("--prompts", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    asked = prompts(given.prompts, stream(given.seed, 0))
    with giro.Client(given.url, queue=None, timeout=30.0) as client:  # simulated people wait
        chosen = play(client, asked, stream(given.seed, 1))
    half = given.prompts // 2
    later = asked[half:]
    ways = {"the bandit": chosen[half:]} | {model: [model] * len(later) for model in MODELS}
    ways["the best"] = [max(MODELS, key=lambda m: expected(m, prompt)) for prompt in later]
    print(table(ways, later))


if __name__ == "__main__":
    main()
