"""VW's contextual bandits, simulated by its own --cbify from a file of rows with their classes.

That is the quickest way VW has: it reads its own binary cache of the file, made ahead of the time
that counts, chooses an arm, sees only whether it was right, learns, and counts its mistakes. Its
other parameters are its defaults, the learning rate among them.
"""

import time
from pathlib import Path

import vowpalwabbit
from classify import Outcome, Task, main

ARGUMENTS = {  # how VW documents them; --cb_type dr is its default without ADF, mtr with it
    "epsilon": "--epsilon 0.05",
    "bag": "--bag 5",
    "squarecb": "--cb_explore_adf --squarecb",
}


def play(task: Task, arguments: str) -> Outcome:
    """Return how VW does; the limit is not looked at, as nothing of it takes that long."""
    cache = task.folder / "rows.cache"
    if not cache.exists():
        _write_cache(task, cache)
    chosen = f"--cbify {task.n_arms} {arguments} --random_seed {task.seed} --quiet"
    began = time.process_time()
    workspace = vowpalwabbit.Workspace(f"{chosen} --data {cache} --cache_file {cache}")
    seconds = time.process_time() - began
    rounds = round(workspace.get_weighted_examples())
    loss = workspace.get_sum_loss()
    workspace.finish()
    return Outcome(rounds, 1.0 - loss / rounds, seconds)


def _write_cache(task: Task, cache: Path) -> None:
    """Let VW translate the rows; it adds a constant of its own."""
    text = task.folder / "rows.txt"
    with text.open("w") as file:
        for context, label in zip(task.contexts, task.labels, strict=True):
            features = " ".join(f"f{j}:{value:.7g}" for j, value in enumerate(context) if value)
            file.write(f"{label + 1} | {features}\n")
    arguments = f"--oaa {task.n_arms} --quiet --data {text} --cache_file {cache} -k"
    vowpalwabbit.Workspace(arguments).finish()
    text.unlink()


if __name__ == "__main__":
    main({name: lambda task, text=text: play(task, text) for name, text in ARGUMENTS.items()})
