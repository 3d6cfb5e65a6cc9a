"""A simulated crowd, which visits the shop over HTTP as people do."""

import re

import httpx
import numpy as np

BUYING = {"plain": 0.05, "reviews": 0.09, "free delivery": 0.18}  # what the shop does not know
SILENT = 0.1  # share of visitors who close the page without a click


def visit(shop: httpx.Client, rng: np.random.Generator) -> str:
    """Open the page, perhaps click on one of its buttons, and return the variant seen."""
    page = shop.get("/").raise_for_status().text
    (variant,) = re.findall(r'data-variant="(.*?)"', page)
    buy, leave = re.findall(r'formaction="(.*?)"', page)
    if rng.random() >= SILENT:
        buys = rng.random() < BUYING[variant]
        shop.post(buy if buys else leave).raise_for_status()
    return variant
