"""Simulated prompts and language models. Put your own in their place."""

from typing import NamedTuple

import numpy as np


class Model(NamedTuple):
    """A model: what a word costs in cents, and how often its answer is good, by kind of prompt."""

    cents: float
    quality: dict[str, float]


class Answer(NamedTuple):
    """What came of a prompt."""

    quality: float  # 1 if somebody liked it, else 0; a judge may also give numbers between
    cents: float


MODELS = {
    "small": Model(0.001, {"fact": 0.85, "code": 0.30, "proof": 0.10}),
    "coder": Model(0.004, {"fact": 0.60, "code": 0.90, "proof": 0.30}),
    "large": Model(0.020, {"fact": 0.95, "code": 0.92, "proof": 0.85}),
}
PROMPTS = {
    "fact": ["What is the capital of {}?", "Who discovered {}?", "When did {} begin?"],
    "code": ["Write a function in Python for {}.", "Why does `{}` fail with a TypeError?"],
    "proof": ["Prove that {} < 2 for all n > 1.", "Show that {} = 0 has no solution."],
}


class Prompt(NamedTuple):
    """A prompt. Only the simulation knows of which kind it is."""

    text: str
    kind: str


def prompts(number: int, rng: np.random.Generator) -> list[Prompt]:
    """Return prompts of all kinds, short and long."""
    kinds = [list(PROMPTS)[int(rng.integers(3))] for _ in range(number)]
    texts = (PROMPTS[kind][int(rng.integers(len(PROMPTS[kind])))] for kind in kinds)
    lengths = rng.integers(1, 20, size=number)
    return [
        Prompt(text.format(" ".join(["something"] * length)), kind)
        for text, kind, length in zip(texts, kinds, lengths, strict=True)
    ]


def ask(model: str, prompt: Prompt, rng: np.random.Generator) -> Answer:
    """Return what a model makes of a prompt."""
    is_good = rng.random() < MODELS[model].quality[prompt.kind]
    return Answer(float(is_good), cents(model, prompt))


def cents(model: str, prompt: Prompt) -> float:
    """Return the price of an answer, which is longer the longer the prompt is."""
    return MODELS[model].cents * (10 + len(prompt.text.split()))
