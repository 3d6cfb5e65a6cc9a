"""Boosting: scikit-learn's gradient-boosted trees by name."""

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from giro import BadParameter, Policy, simulate
from giro.models.estimator import as_model
from giro.policies.giro_ensemble import GiroEnsemble


def test_is_the_estimator_it_stands_for() -> None:
    named = Policy.parse("giro-ensemble:a=1,model=boosting,replicas=2,growth=2")
    estimator = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=15, early_stopping=False)
    wrapped = GiroEnsemble(a=1.0, model=as_model(estimator), replicas=2, growth=2.0)
    problem = "linear:n_arms=2,dimension=2"
    first, second = (simulate(p, problem, rounds=30, runs=1) for p in (named, wrapped))
    assert first.pulls.tolist() == second.pulls.tolist()
    assert first.regret.tolist() == second.regret.tolist()


@pytest.mark.parametrize(("text", "complaint"), [("trees=0", "trees >= 1"), ("leaves=1", "leaves")])
def test_parameters_are_checked(text: str, complaint: str) -> None:
    with pytest.raises(BadParameter, match=complaint):
        Policy.parse(f"giro-ensemble:model=[boosting:{text}]")
