"""Public code of policies with contexts: the regret of each run, for `family.py`.

Names with `,` behind them are that code with one thing replaced, which the name says. Networks are
giro's, trained by giro: then only the way to choose is that of the public code.
"""

import contextlib
import copy
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

Regret = Callable[[str, int], float]


def numbers(problem: str, key: str) -> list[float]:
    """Return the numbers of a parameter of a problem: a list, or one."""
    text = problem.partition(f"{key}=")[2]
    return json.loads(text.partition("]")[0] + "]" if text[0] == "[" else f"[{text.split(',')[0]}]")


def checkout(name: str) -> None:
    """Make the modules of a checkout importable."""
    sys.path.insert(0, str(Path(sys.argv[1]).resolve() / name))


def stand_in(name: str, **contents: Any) -> None:
    """Put a module in place of one that is not installed."""
    module = ModuleType(name)
    vars(module).update(contents)
    sys.modules[name] = module


# -- problems --------------------------------------------------------------------------------------


class Round(NamedTuple):
    """What a round shows, and hides."""

    rows: np.ndarray  # [arm, column] features and a constant
    means: np.ndarray  # [arm]
    rewards: np.ndarray  # [arm]


def rounds_of(problem: str, rounds: int) -> Iterator[Round]:
    """Yield the rounds of a run of giro's problems `linear` and `logistic`."""
    rng = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002, TID251
    k, d = (int(numbers(problem, key)[0]) for key in ("n_arms", "dimension"))
    shared, logistic = "shared=true" in problem, problem.startswith("logistic")
    theta = rng.normal(size=(1 if shared else k, d + 1))
    length = numbers(problem, "strength")[0] if logistic else 8**-0.5
    theta *= length / np.linalg.norm(theta, axis=1)[:, None]
    for _ in range(rounds):
        x = rng.normal(size=(k if shared else 1, d))
        x /= np.linalg.norm(x, axis=1)[:, None]
        rows = np.column_stack([np.broadcast_to(x, (k, d)), np.ones(k)])
        scores = (rows * theta).sum(axis=1)
        means = 1 / (1 + np.exp(-scores)) if logistic else 0.5 + scores
        yield Round(rows, means, (rng.random(k) < means).astype(float))


def total_regret(
    problem: str,
    rounds: int,
    choose: Callable[[np.ndarray], int],
    learn: Callable[[np.ndarray, int, float], object],
) -> float:
    """Play a run, and return its regret."""
    total = 0.0
    for rows, means, rewards in rounds_of(problem, rounds):
        arm = choose(rows)
        learn(rows, arm, rewards[arm])
        total += means.max() - means[arm]
    return float(total)


# -- logistic models -------------------------------------------------------------------------------


def logistic(name: str, norm: float = 1.0, *, changes: str = "") -> Regret:
    """Return a player of criteo-research/logistic_bandit, where all arms share a model.

    `changes` are letters. p: θ is projected to the ball as in the paper, and only if it is longer.
    s: the width is added to the score. h: the score is that of θ̂. r: radius and κ are those of the
    paper, as giro has them.
    """
    checkout("logistic_bandit")
    public = getattr(import_module(f"logbexp.algorithms.{name}"), name.capitalize())

    class Changed(public):
        def learn(self, arm: np.ndarray, reward: float) -> None:
            z, before = float(arm @ self.theta), self.theta.copy()
            super().learn(arm, reward)
            self.squares = getattr(self, "squares", 0.0) + z * z
            if "p" in changes:
                kappa = getattr(self, "kappa", 1.0)
                slope = (1 / (1 + np.exp(-z)) - reward) / kappa
                step = before - slope * (self.v_matrix_inv @ arm)
                self.theta = projected(self.v_matrix, step, self.param_norm_ub)

        def update_ucb_bonus(self) -> None:
            super().update_ucb_bonus()
            if "r" in changes and name == "gloc":
                b, k, s, delta = (
                    self.oco_regret_bound,
                    self.kappa,
                    self.param_norm_ub,
                    self.failure_level,
                )
                inside = 1 + 2 * b / k + 4 * 0.5**4 / (k**4 * delta**2)
                alpha = 1 + 4 * b / k + 8 * 0.25 / k**2 * np.log(2 / delta * np.sqrt(inside))
                left = getattr(self, "squares", 0.0) - self.theta_hat @ self.zt
                self.conf_radius = np.sqrt(max(alpha + self.l2reg * s * s - left, 0.0))

        def compute_optimistic_reward(self, arm: np.ndarray) -> float:
            if "s" not in changes:
                return float(super().compute_optimistic_reward(arm))
            theta = self.theta_hat if "h" in changes else self.theta
            return float(arm @ theta + self.conf_radius * np.sqrt(arm @ self.v_matrix_inv @ arm))

    def regret(problem: str, rounds: int) -> float:
        d, longest = int(numbers(problem, "dimension")[0]) + 1, 1.0 if "r" in changes else 2**0.5
        policy = (Changed if changes else public)(norm, longest, d, 0.05)

        def choose(rows: np.ndarray) -> int:
            best = SimpleNamespace(type="tv_discrete", argmax=lambda value: max(rows, key=value))
            return int(np.flatnonzero((rows == policy.pull(best)).all(axis=1))[0])

        return total_regret(problem, rounds, choose, lambda x, arm, r: policy.learn(x[arm], r))

    return regret


def projected(matrix: np.ndarray, theta: np.ndarray, norm: float) -> np.ndarray:
    """Return the vector of the ball that is nearest to θ in the metric of the matrix."""
    if np.linalg.norm(theta) <= norm:
        return theta
    values, vectors = np.linalg.eigh(matrix)
    moment = values * (vectors.T @ theta)
    low, high = 0.0, values.max() * np.linalg.norm(theta) / norm
    for _ in range(60):
        mu = (low + high) / 2
        low, high = (mu, high) if np.linalg.norm(moment / (values + mu)) > norm else (low, mu)
    return np.asarray(vectors @ (moment / (values + high)))


# -- linear models ---------------------------------------------------------------------------------


def residuals(w: float, *, as_giro: bool = False) -> Regret:
    """Return a player of ShuangWu22/LinReBoot_Experiments, where all arms share a model.

    `as_giro`: an arm whose rewards were all equal has the RSS s/4.
    """
    stand_in("pandas")
    checkout("LinReBoot_Experiments")
    module = import_module("Algorithms")
    scipys = module.stats

    def regret(problem: str, rounds: int) -> float:
        k, d = (int(numbers(problem, key)[0]) for key in ("n_arms", "dimension"))
        table = [None, *rounds_of(problem, rounds)]
        seen: list[list[float]] = [[] for _ in range(k)]

        def pull(arm: int, t: int) -> float:
            seen[arm - 1].append(float(table[t].rewards[arm - 1]))
            return seen[arm - 1][-1]

        def drawn(size: int, mean: np.ndarray, cov: np.ndarray) -> np.ndarray:
            variances = cov.diagonal().copy()
            for arm, rewards in enumerate(seen):
                if len(set(rewards)) == 1:
                    variances[arm] = w * w / (4 * len(rewards))
            return np.random.normal(mean, np.sqrt(np.maximum(variances, 0)))  # noqa: NPY002

        normal = SimpleNamespace(multivariate_normal=SimpleNamespace(rvs=drawn))
        module.stats = normal if as_giro else scipys
        game = SimpleNamespace(
            n=rounds + 1,
            k=k,
            d=d + 1,
            pull=pull,
            get_context=lambda t, all_arm: table[t].rows,
            regret=lambda arm, t: table[t].means.max() - table[t].means[arm - 1],
        )
        return float(module.Linear_ReBoot_G(game, 0.1, w)[2][-1])

    return regret


def posterior(b: float, *, network: bool = False) -> Regret:
    """Return a player of deep_contextual_bandits in tensorflow/models, before it was taken out.

    Linear regressions of each arm, on contexts or on the last layer of a network.
    """
    checkout("models/research/deep_contextual_bandits")
    if network:
        stand_in("bandits.algorithms.neural_bandit_model", NeuralBanditModel=_GirosLayer)
    name = "neural_linear_sampling" if network else "linear_full_posterior_sampling"
    module = import_module(f"bandits.algorithms.{name}")
    algorithm = getattr(
        module, f"{'Neural' if network else 'LinearFull'}{'Linear' * network}PosteriorSampling"
    )

    def regret(problem: str, rounds: int) -> float:
        k, d = (int(numbers(problem, key)[0]) for key in ("n_arms", "dimension"))
        options = SimpleNamespace(
            num_actions=k,
            context_dim=d,
            lambda_prior=0.25,
            a0=6.0,
            b0=b,
            initial_pulls=2,
            layer_sizes=[51],
            training_freq=1,
            training_freq_network=50,
            training_epochs=1,
            reset_lr=False,
            rounds=rounds,
        )
        policy = algorithm("aside", options)
        return total_regret(
            problem,
            rounds,
            lambda rows: int(policy.action(rows[0, :-1])),
            lambda rows, arm, reward: policy.update(rows[0, :-1], arm, reward),
        )

    return regret


# -- networks --------------------------------------------------------------------------------------


class _Giros:
    """The state of one of giro's policies, which learns."""

    def __init__(self, text: str, k: int, d: int, rounds: int, *, shared: bool) -> None:
        sys.path.append(str(Path(__file__).parents[2] / "src"))
        policy = import_module("giro.policy")
        self.rng = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002, TID251
        shape = import_module("giro.offer").Shape(
            k, 0 if shared else d, d if shared else 0, rounds, rounds
        )
        played = policy.Policy.parse(text)
        self.state = policy.start(played, shape, self.rng)
        self.shared, self.case = shared, policy.Case
        self._learn = policy.functions_for(played, shape).learn

    def learn(self, x: np.ndarray, arm: int, reward: float) -> None:
        nothing = np.empty(0)
        case = self.case(nothing, x) if self.shared else self.case(x, nothing)
        self._learn(self.state, case, arm, float(reward), self.rng)


class _GirosLayer:
    """Stands in for the authors' network."""

    def __init__(self, optimizer: str, options: Any, name: str) -> None:
        self.giro = _Giros(
            "neural-linear:hidden=50,every=50",
            options.num_actions,
            options.context_dim,
            options.rounds,
            shared=False,
        )
        self.graph = SimpleNamespace(as_default=contextlib.nullcontext)
        self.sess, self.nn, self.x, self.taken = self, None, "x", 0

    def run(self, layer: Any, feed_dict: dict[str, np.ndarray]) -> np.ndarray:
        x = np.column_stack([feed_dict["x"], np.ones(len(feed_dict["x"]))])
        units = np.maximum(x @ self.giro.state.network.hidden.reshape(x.shape[1], -1), 0.0)
        return np.column_stack([units[:, :50], np.ones(len(x))])

    def train(self, data: Any, epochs: int) -> None:
        new = slice(self.taken, len(data.actions))
        for x, arm, rewards in zip(
            data.contexts[new], data.actions[new], data.rewards[new], strict=True
        ):
            self.giro.learn(x, arm, rewards[arm])
        self.taken = len(data.actions)


def gradients(name: str, nu: float) -> Regret:
    """Return a player of uclaml/NeuralUCB or ZeroWeight/NeuralTS, where all arms share a network.

    Their own way of training takes 1,000 steps for each reward. The network is giro's.
    """
    torch = import_module("torch")
    torch.set_num_threads(1)
    for kind in (torch.Tensor, torch.nn.Module):
        kind.cuda = lambda self: self
    checkout(name)
    module = import_module("learner_diag" if name == "NeuralUCB" else "learner_neural")
    algorithm = getattr(module, "NeuralUCBDiag" if name == "NeuralUCB" else "NeuralTS")

    class Ours(torch.nn.Module):
        def __init__(self, d: int, width: int) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(d, width, bias=False)
            self.outer = torch.nn.Linear(width, 1)

        def forward(self, x: Any) -> Any:
            return torch.sigmoid(self.outer(torch.relu(self.inner(x))))

        def take(self, weights: Any, d: int) -> None:
            with torch.no_grad():
                self.inner.weight.copy_(torch.from_numpy(weights.hidden[0].reshape(d, -1).T.copy()))
                self.outer.weight.copy_(torch.from_numpy(weights.output[:1]))
                self.outer.bias.copy_(torch.from_numpy(weights.bias[0]))

    def regret(problem: str, rounds: int) -> float:
        k, d = (int(numbers(problem, key)[0]) for key in ("n_arms", "dimension"))
        policy = algorithm(d + 1, 1.0, nu, 32)

        giro = _Giros("neural-ucb:hidden=32", k, d, rounds, shared=True)
        networks = giro.state.models.model.networks
        policy.func = policy.func1 = Ours(d + 1, networks.output.shape[1])
        policy.func.take(networks, d + 1)
        policy.U = torch.ones(sum(p.numel() for p in policy.func.parameters()))

        def learn(rows: np.ndarray, arm: int, reward: float) -> None:
            giro.learn(rows[arm, :-1].copy(), arm, reward)
            policy.func.take(networks, d + 1)

        return total_regret(problem, rounds, lambda rows: int(policy.select(rows)[0]), learn)

    return regret


# -- a matrix of users and arms --------------------------------------------------------------------


def particles(noise: float, *, own: bool = False) -> Regret:
    """Return a player of HCDM/BanditLib on giro's problem `low-rank`.

    There a particle that is drawn several times is one. With `own` it is copied.
    """
    stand_in(
        "BaseAlg",
        BaseAlg=type("BaseAlg", (), {"__init__": lambda self, options: vars(self).update(options)}),
    )
    checkout("BanditLib/lib")
    algorithm = import_module("PTS").PTSAlgorithm

    class Copied(algorithm):
        @property
        def particles(self) -> list[Any]:
            return self._particles

        @particles.setter
        def particles(self, drawn: list[Any]) -> None:
            repeated = [each in drawn[:i] for i, each in enumerate(drawn)]
            self._particles = [
                copy.deepcopy(each) if again else each
                for each, again in zip(drawn, repeated, strict=True)
            ]

    algorithm = Copied if own else algorithm

    def regret(problem: str, rounds: int) -> float:
        k, users = (int(numbers(problem, key)[0]) for key in ("n_arms", "users"))
        rng = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002, TID251
        means = rng.dirichlet([0.2, 0.2], size=users) @ rng.random((2, k))
        policy = algorithm(
            {
                "dimension": 2,
                "n_users": users,
                "itemNum": k,
                "sigma": noise,
                "sigmaU": 1.0,
                "sigmaV": 1.0,
                "particle_num": 30,
            }
        )
        arms, total = [SimpleNamespace(id=arm) for arm in range(k)], 0.0
        for _ in range(rounds):
            user = int(rng.integers(users))
            (arm,) = policy.decide(arms, user)
            policy.updateParameters(arm, float(rng.random() < means[user, arm.id]) - 0.5, user)
            total += means[user].max() - means[user, arm.id]
        return float(total)

    return regret


POLICIES: dict[str, Callable[[], Regret]] = {
    "gloc": lambda: logistic("gloc"),
    "gloc-wrong": lambda: logistic("gloc", 2.0),
    "gloc, three changes": lambda: logistic("gloc", changes="psh"),
    "gloc, three changes-wrong": lambda: logistic("gloc", 2.0, changes="psh"),
    "gloc, and radius": lambda: logistic("gloc", changes="pshr"),
    "gloc, and radius-wrong": lambda: logistic("gloc", 2.0, changes="pshr"),
    "ol2m": lambda: logistic("ol2m"),
    "ol2m-wrong": lambda: logistic("ol2m", 2.0),
    "ol2m, two changes": lambda: logistic("ol2m", changes="ps"),
    "ol2m, two changes-wrong": lambda: logistic("ol2m", 2.0, changes="ps"),
    "Linear_ReBoot_G": lambda: residuals(0.4),
    "Linear_ReBoot_G-wrong": lambda: residuals(0.8),
    "Linear_ReBoot_G, RSS s/4": lambda: residuals(0.4, as_giro=True),
    "Linear_ReBoot_G, RSS s/4-wrong": lambda: residuals(0.8, as_giro=True),
    "LinearFullPosteriorSampling": lambda: posterior(6.0),
    "LinearFullPosteriorSampling-wrong": lambda: posterior(24.0),
    "NeuralLinear, giro's network": lambda: posterior(6.0, network=True),
    "NeuralLinear, giro's network-wrong": lambda: posterior(24.0, network=True),
    "NeuralUCB, giro's network": lambda: gradients("NeuralUCB", 1.0),
    "NeuralUCB, giro's network-wrong": lambda: gradients("NeuralUCB", 0.01),
    "NeuralTS, giro's network": lambda: gradients("NeuralTS", 1.0),
    "NeuralTS, giro's network-wrong": lambda: gradients("NeuralTS", 0.01),
    "PTS": lambda: particles(0.5),
    "PTS-wrong": lambda: particles(1.0),
    "PTS, own particles": lambda: particles(0.5, own=True),
    "PTS, own particles-wrong": lambda: particles(1.0, own=True),
}
