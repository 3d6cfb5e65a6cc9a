"""VW's contextual bandits, simulated by its own --cbify from a file of rows with their classes.

That is the quickest way VW has: it reads its own binary cache of the file, made ahead of the time
that counts, chooses an arm, sees only whether it was right, learns, and counts its mistakes. Graded
rewards are costs of one minus the reward (--cbify_cs). Its other parameters are its defaults, the
learning rate among them.
"""

import time
from pathlib import Path

import numpy as np
import vowpalwabbit
from classify import Outcome, Task, main

ARGUMENTS = {  # how VW documents them; --cb_type dr is its default without ADF, mtr with it
    "greedy": "--epsilon 0",
    "first": "--first 500",
    "epsilon": "--epsilon 0.05",
    "bag": "--bag 5",
    "cover": "--cover 5",
    "squarecb": "--cb_explore_adf --squarecb",
    "regcbopt": "--cb_explore_adf --regcbopt",
}


def play(task: Task, arguments: str) -> Outcome:
    """Return how VW does; the limit is not looked at, as nothing of it takes that long."""
    cache = task.folder / "rows.cache"
    if not cache.exists():
        _write_cache(task, cache)
    costs = " --cbify_cs" if task.graded else ""
    chosen = f"--cbify {task.n_arms}{costs} {arguments} --random_seed {task.seed} --quiet"
    began = time.process_time()
    workspace = vowpalwabbit.Workspace(f"{chosen} --data {cache} --cache_file {cache}")
    seconds = time.process_time() - began
    rounds = round(workspace.get_weighted_examples())
    loss = workspace.get_sum_loss()
    workspace.finish()
    return Outcome(rounds, 1.0 - loss / rounds, seconds)


def _write_cache(task: Task, cache: Path) -> None:
    """Let VW translate the rows; it adds a constant of its own."""
    text, label_of = task.folder / "rows.txt", _costs if task.graded else _class
    with text.open("w") as file:
        for context, rewards in zip(task.contexts, task.rewards, strict=True):
            features = " ".join(f"f{j}:{value:.7g}" for j, value in enumerate(context) if value)
            file.write(f"{label_of(rewards)} | {features}\n")
    reader = "--csoaa" if task.graded else "--oaa"
    arguments = f"{reader} {task.n_arms} --quiet --data {text} --cache_file {cache} -k"
    vowpalwabbit.Workspace(arguments).finish()
    text.unlink()


def _class(rewards: np.ndarray) -> str:
    """Return the right arm as VW reads it, which counts from 1."""
    return str(np.argmax(rewards) + 1)


def _costs(rewards: np.ndarray) -> str:
    """Return the cost of each arm as VW reads it."""
    return " ".join(f"{arm + 1}:{1.0 - reward:.7g}" for arm, reward in enumerate(rewards))


if __name__ == "__main__":
    main({name: lambda task, text=text: play(task, text) for name, text in ARGUMENTS.items()})
