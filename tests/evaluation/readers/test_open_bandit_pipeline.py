"""Our estimates on the Open Bandit data are those of its own pipeline."""

import math

import pytest
from evaluation.open_bandit_pipeline import FOLDER, N_ITEMS, estimates, laws, sample

from giro.evaluation import read_log
from giro.features import Columns
from giro.seeds import stream

pytestmark = pytest.mark.skipif(
    not FOLDER, reason="needs the package obp and its data: make test-obp"
)


@pytest.mark.parametrize("campaign", N_ITEMS)
@pytest.mark.parametrize("behaviour", ["random", "bts"])
def test_ips_snips_and_dr_agree_with_obp_to_rounding(
    behaviour: str, campaign: str, seed: int
) -> None:
    for name, law in laws(N_ITEMS[campaign], stream(seed)).items():
        for estimator, pair in estimates(sample(behaviour, campaign), law).items():
            assert math.isclose(pair.ours, pair.theirs, rel_tol=1e-12), (name, estimator)


def test_the_sample_has_all_items_with_their_features() -> None:
    for campaign, n_items in N_ITEMS.items():
        log = read_log(sample("random", campaign))
        assert (log.events, len(log.arm_names)) == (10_000, n_items)
        assert log.arm_features is not None
        assert log.arm_features.shape == (n_items, log.schema.widths[1])
        assert log.probability == pytest.approx(1 / n_items)
        assert isinstance(log.schema.context, Columns)
        assert log.schema.context.names()[:4] == ["position"] * 4
