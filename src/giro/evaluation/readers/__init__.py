"""Logs of any kind -> Log."""

from collections.abc import Sequence
from typing import Any

from giro.errors import BadParameter, UnknownName
from giro.evaluation.log import Log, checked

# Each registers its reader, and the first is asked first: lines of VW are no table.
# isort: off
from giro.evaluation.readers import vw  # noqa: F401
from giro.evaluation.readers import bandit, open_bandit, table  # noqa: F401
from giro.evaluation.readers._registry import READERS, Options, Source

# isort: on
from giro.progress import shown

_DEFAULT = Options()


def read_log(
    source: Any,
    *,
    format: str = "auto",
    arm: str = _DEFAULT.arm,
    reward: str = _DEFAULT.reward,
    probability: str = _DEFAULT.probability,
    context: str | Sequence[str] = _DEFAULT.context,
    arms: Sequence[str] | None = None,
    hashed: bool | None = None,
    name: str | None = None,
    progress: bool = True,
) -> Log:
    """Return the log in a DataFrame, a mapping of columns, a file, or a store of bandits.

    Files are Parquet (.parquet), CSV (.csv) or JSON lines (.json, .jsonl, .ndjson, .dsjson), or a
    saved `giro.Bandit` (.giro). Stores are `sqlite:///FILE` or `postgresql://...`, with the `name`
    of the bandit if there are several.
    `format` says how to read them; "auto" finds out by the columns:

    - giro: the events of a `giro.Bandit` (`bandit.events()`), decisions joined with rewards.
    - table: a row per event with the columns `arm`, `reward`, `probability` and a `context`:
      a list of columns, the name of one, or what their names begin with. `arms` names all arms.
      A column `context_age` is the feature `age`.
    - open-bandit: the layout of the Open Bandit Dataset, a file or a folder such as
      `obd/random/all`; the features of its items are read from the file beside it.
    - vw: lines of Vowpal Wabbit's JSON; files only. With `hashed`, features are hashed as by a
      bandit whose policy has `model=hashed`; by default if there are more than 500 of them.

    A terminal or a notebook shows after two seconds that it is read, unless `progress` is False.

    >>> log = read_log({"arm": ["a", "b"], "reward": [1, 0], "probability": [0.5, 0.5]})
    >>> log.events, log.arm_names
    (2, ('a', 'b'))
    """
    if isinstance(source, Log):
        return checked(source)
    if format != "auto" and format not in READERS:
        raise UnknownName("format", format, known=["auto", *READERS])
    options = Options(arm, reward, probability, context, arms, hashed)
    with shown("giro reads a log", wanted=progress):
        opened = Source(source, name)
        if format == "auto":
            names = (name for name, each in READERS.items() if each.recognises(opened, options))
            format = next(names, "table")
        if hashed is not None and format != "vw":
            raise BadParameter(
                "only features in logs of Vowpal Wabbit are hashed, or not, on request"
            )
        return READERS[format].read(opened, options)
