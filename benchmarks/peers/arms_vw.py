"""VW's contextual bandits with features of actions, on rounds that giro has revealed.

    python arms_vw.py {play,cache} FOLDER SEED ARGUMENTS ...

`play` calls VW as its users do from Python: predict the lines of a round, draw an action from the
probabilities, learn the lines with its cost, which is one minus the reward. `cache` draws actions
uniformly ahead of time and lets VW learn these events from its own binary cache. A line of JSON is
printed for each text of arguments.
"""

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import vowpalwabbit

COMMON = "--cb_explore_adf --quiet"


class Rounds(NamedTuple):
    """What is revealed."""

    lines: list[list[str]]  # [round] of the context, then of the arms
    rewards: np.ndarray  # [round, i]


def play(rounds: Rounds, arguments: str, seed: int) -> tuple[float, float]:
    """Return the mean reward and the seconds of processor time."""
    workspace = vowpalwabbit.Workspace(f"{COMMON} {arguments} --random_seed {seed}")
    rewards, total = rounds.rewards.tolist(), 0.0
    rng = np.random.default_rng(seed)  # noqa: TID251  # there is no giro here
    uniform = rng.random(len(rewards)).tolist()
    began = time.process_time()
    for t, lines in enumerate(rounds.lines):
        law = workspace.predict(lines)
        chosen, rest = 0, uniform[t] * sum(law) - law[0]
        while rest >= 0.0 and chosen + 1 < len(law):
            chosen += 1
            rest -= law[chosen]
        reward = rewards[t][chosen]
        total += reward
        labelled = lines.copy()
        labelled[chosen + 1] = f"0:{1.0 - reward:.6g}:{law[chosen]:.6g} {lines[chosen + 1]}"
        workspace.learn(labelled)
    seconds = time.process_time() - began
    workspace.finish()
    return total / len(rounds.lines), seconds


def learn_from_cache(
    rounds: Rounds, arguments: str, seed: int, folder: Path
) -> tuple[float, float]:
    """Return the mean reward of the logged events and the seconds of learning them."""
    text, cache = folder / "events.txt", folder / "events.cache"
    n_arms = rounds.rewards.shape[1]
    rng = np.random.default_rng(seed)  # noqa: TID251  # there is no giro here
    chosen = rng.integers(0, n_arms, len(rounds.lines))
    rewards = rounds.rewards[np.arange(chosen.size), chosen]
    with text.open("w") as file:
        for lines, arm, reward in zip(rounds.lines, chosen.tolist(), rewards.tolist(), strict=True):
            label = f"0:{1.0 - reward:.6g}:{1.0 / n_arms:.6g} "
            labelled = [*lines[: arm + 1], label + lines[arm + 1], *lines[arm + 2 :]]
            file.write("\n".join(labelled) + "\n\n")
    vowpalwabbit.Workspace(f"{COMMON} --data {text} --cache_file {cache} -k").finish()
    text.unlink()
    began = time.process_time()
    workspace = vowpalwabbit.Workspace(
        f"{COMMON} {arguments} --random_seed {seed} --data {cache} --cache_file {cache}"
    )
    seconds = time.process_time() - began
    learned = round(workspace.get_weighted_examples())
    workspace.finish()
    cache.unlink()
    assert learned == chosen.size, f"{learned} events learned of {chosen.size}"
    return float(rewards.mean()), seconds


def main(how: str, folder: Path, seed: int, texts: list[str]) -> None:
    """Play with each text of arguments."""
    with (folder / "lines.txt").open() as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    rounds = Rounds(lines, np.load(folder / "rewards.npy"))
    for text in texts:
        if how == "play":
            reward, seconds = play(rounds, text, seed)
        else:
            reward, seconds = learn_from_cache(rounds, text, seed, folder)
        print(json.dumps({"arguments": text, "mean_reward": reward, "seconds": seconds}))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
