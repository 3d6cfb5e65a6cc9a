"""Play every pair of a policy and a problem and write the hashes of what happened.

python tests/golden/write.py          # after a change that is meant to change draws
python tests/golden/write.py --diff   # only say which pairs differ from the file
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.pairs import FILE, hashes_of, made_with, pairs, written


def main() -> None:
    """Write the file, or say how it differs."""
    before = written()
    now = {name: hashes_of(*pair) for name, pair in pairs().items()}
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name, {}), now.get(name, {})
        if old != new:
            parts = [part for part in {**old, **new} if old.get(part) != new.get(part)]
            what = ", ".join(parts) if old and new else "new" if new else "gone"
            sys.stdout.write(f"{name}: {what}\n")
    if "--diff" not in sys.argv:
        FILE.write_text(json.dumps({"made_with": made_with(), "pairs": now}, indent=1) + "\n")


if __name__ == "__main__":
    main()
