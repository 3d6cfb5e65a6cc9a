"""What a round costs the policies of the family, in short runs and in long ones.

    python benchmarks/family_costs.py [--only WORD ...]

One run of 10,000 and one of 100,000 rounds, in nanoseconds of processor time a round, on one core.
A line is written to results/family/costs.csv as it ends, and is not measured again.
"""

import argparse
from pathlib import Path

from ratio import cost_of, csv_lines, say

from giro import Policy, simulate
from giro.paper.studies.family import POLICIES, problems
from giro.tables import write_csv
from giro.version import stamp

RESULTS = Path(__file__).parent.parent / "results" / "family" / "costs.csv"
KINDS = ("bernoulli", "beta, v = 4", "discrete")
ROUNDS = (10_000, 100_000)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name, problem in problems().items():
        for policy in map(Policy.parse, POLICIES):
            lines, key = csv_lines(options.out), (name, policy.text)
            wanted = any(word in f"{name} {policy}" for word in options.only)
            there = any((line["problem"], line["policy"]) == key for line in lines)
            if not wanted or there or not name.startswith(KINDS):
                continue
            simulate(policy, problem, rounds=10, runs=1, jobs=1, progress=False)  # compiles
            line = {"problem": name, "policy": policy.text}
            for rounds in ROUNDS:

                def play(policy=policy, problem=problem, rounds=rounds) -> None:
                    simulate(policy, problem, rounds=rounds, runs=1, jobs=1, progress=False)

                line[f"ns_{rounds}"] = f"{1e9 * cost_of(play).cpu / rounds:.4g}"
            say(f"  {line}")
            write_csv(
                options.out, [*lines, line], note=str(stamp("python benchmarks/family_costs.py"))
            )


if __name__ == "__main__":
    main()
