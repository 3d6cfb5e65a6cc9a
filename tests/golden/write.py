"""Play every pair of a policy and a problem and write the hashes of what happened.

python tests/golden/write.py             # after a change that is meant to change draws
python tests/golden/write.py --diff      # only say which pairs differ from the file
python tests/golden/write.py ucb1 linear # only pairs whose names hold these words
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.pairs import FILE, hashes_of, made_with, pairs, written


def main(words: list[str], *, write: bool) -> None:
    """Say how the pairs differ from the file, and write them unless that is all."""
    before, known = written(), pairs()
    asked = {name: known[name] for name in known if all(word in name for word in words)}
    now = {name: before[name] for name in before if name in known and name not in asked}
    now |= {name: hashes_of(*pair) for name, pair in asked.items()}
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            sys.stdout.write(f"{name}: {_change(before.get(name), now.get(name))}\n")
    if write:
        in_order = {name: now[name] for name in known if name in now}
        content = {"made_with": made_with(), "pairs": in_order}
        FILE.write_text(json.dumps(content, indent=1) + "\n")


def _change(old: dict[str, str] | None, new: dict[str, str] | None) -> str:
    if old is None or new is None:
        return "new" if old is None else "gone"
    return ", ".join(part for part in new if new[part] != old.get(part))


if __name__ == "__main__":
    main([word for word in sys.argv[1:] if word != "--diff"], write="--diff" not in sys.argv)
