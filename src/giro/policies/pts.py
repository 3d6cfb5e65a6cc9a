"""PTS: Thompson sampling of a low-rank matrix of users and arms (Kawale et al., 2015)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count, Positive, Share
from giro.compiling import kernel
from giro.kernels.draws.continuous import normals, standard_normal
from giro.kernels.draws.uniform import integer_below
from giro.kernels.giro.history import History, append, empty_history, rewards_of
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.regression.linear_algebra import dot, factorise, solve, squared_width
from giro.policy import Case, Offer, Policy, Shape


class _Rewards(NamedTuple):
    """All rewards, with lists of those of each user and of each arm."""

    user: np.ndarray  # [reward]
    arm: np.ndarray  # [reward]
    value: np.ndarray  # [reward]
    of_user: History  # numbers of rewards
    of_arm: History
    n: np.ndarray  # [1] rewards so far

    def trimmed(self) -> "_Rewards":
        """Return the part in use."""
        n = int(self.n[0])
        return self._replace(user=self.user[:n], arm=self.arm[:n], value=self.value[:n])


class _Normal(NamedTuple):
    """The posterior of one user or arm, given a particle's opposite side."""

    mean: np.ndarray  # [coordinate]
    factor: np.ndarray  # [coordinate, coordinate] U with U'U the precision
    draw: np.ndarray  # [coordinate]


class _State(NamedTuple):
    rewards: _Rewards
    users: np.ndarray  # [user, particle, coordinate], 0 before the user's first reward
    arms: np.ndarray  # [arm, particle, coordinate]
    log_weight: np.ndarray  # [particle] workspace
    normal: _Normal  # workspace
    centre: float  # what is subtracted from rewards
    noise: float  # variance of a reward
    sd: float  # of users' and arms' coordinates before any reward
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    particle = integer_below(state.log_weight.size, rng)
    _set_user(state, _user_of(offer.context), particle)
    _draw(state.normal, rng)
    values = np.empty(offer.arms.size)
    for i in range(values.size):
        values[i] = dot(state.normal.draw, state.arms[offer.arms[i], particle])
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _user_of(context: np.ndarray) -> int:
    """Return the column of the largest number but 0, the first of several, 0 if there is none."""
    user, largest = 0, -np.inf
    for j in range(context.size):
        if context[j] != 0.0 and context[j] > largest:
            user, largest = j, context[j]
    return user


@kernel
def _set_user(state: _State, user: int, particle: int) -> None:
    """Set the posterior of a user, given a particle's arms."""
    rewards = state.rewards
    _set_prior(state)
    for number in rewards_of(rewards.of_user, user):
        _observe(state.normal, state.arms[rewards.arm[number], particle], rewards.value[number])
    _finish(state)


@kernel
def _set_arm(state: _State, arm: int, particle: int) -> None:
    """Set the posterior of an arm, given a particle's users."""
    rewards = state.rewards
    _set_prior(state)
    for number in rewards_of(rewards.of_arm, arm):
        _observe(state.normal, state.users[rewards.user[number], particle], rewards.value[number])
    _finish(state)


@kernel
def _set_prior(state: _State) -> None:
    """Begin with the prior, multiplied by the variance of a reward."""
    normal, penalty = state.normal, state.noise / (state.sd * state.sd)
    for j in range(normal.mean.size):
        normal.mean[j] = 0.0
        for k in range(normal.mean.size):
            normal.factor[j, k] = penalty if j == k else 0.0


@kernel
def _observe(normal: _Normal, row: np.ndarray, reward: float) -> None:
    """Add the sums of a reward."""
    for j in range(row.size):
        normal.mean[j] += reward * row[j]
        for k in range(j, row.size):
            normal.factor[j, k] += row[j] * row[k]


@kernel
def _finish(state: _State) -> None:
    """Turn the sums into the mean, and the factor of the precision."""
    normal, root = state.normal, math.sqrt(state.noise)
    factorise(normal.factor)
    solve(normal.factor, normal.mean)
    for j in range(normal.mean.size):
        for k in range(j, normal.mean.size):
            normal.factor[j, k] /= root


@kernel
def _draw(normal: _Normal, rng: np.random.Generator) -> None:
    """Draw from the posterior: its mean and U⁻¹z, with z standard normal."""
    draw, factor = normal.draw, normal.factor
    for j in range(draw.size - 1, -1, -1):
        rest = standard_normal(rng)
        for k in range(j + 1, draw.size):
            rest -= factor[j, k] * draw[k]
        draw[j] = rest / factor[j, j]
    for j in range(draw.size):
        draw[j] += normal.mean[j]


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    user = _user_of(case.context)
    reward -= state.centre
    _weigh(state, user, arm, reward)
    _resample(state, rng)
    rewards = state.rewards
    number = rewards.n[0]
    rewards.user[number], rewards.arm[number], rewards.value[number] = user, arm, reward
    rewards.n[0] += 1
    append(rewards.of_user, user, number)
    append(rewards.of_arm, arm, number)
    for particle in range(state.log_weight.size):
        _set_user(state, user, particle)
        _draw(state.normal, rng)
        for j in range(state.normal.draw.size):
            state.users[user, particle, j] = state.normal.draw[j]
        _set_arm(state, arm, particle)
        _draw(state.normal, rng)
        for j in range(state.normal.draw.size):
            state.arms[arm, particle, j] = state.normal.draw[j]


@kernel
def _weigh(state: _State, user: int, arm: int, reward: float) -> None:
    """Write the logarithm of each particle's density of a reward, whose user it does not know."""
    normal = state.normal
    for particle in range(state.log_weight.size):
        _set_user(state, user, particle)
        row = state.arms[arm, particle]
        variance = state.noise + squared_width(normal.factor, row, normal.draw)
        error = reward - dot(row, normal.mean)
        state.log_weight[particle] = -0.5 * (error * error / variance + math.log(variance))


@kernel
def _resample(state: _State, rng: np.random.Generator) -> None:
    """Replace particles by copies of others, so that all weigh the same (systematic resampling).

    A particle of weight w stays in n w places, rounded up or down, where it can in its own.
    """
    log_weight, n = state.log_weight, state.log_weight.size
    most = log_weight.max()
    total = 0.0
    for i in range(n):
        total += math.exp(log_weight[i] - most)
    copies, sum_before, point = np.zeros(n, np.int64), 0.0, rng.random()
    for i in range(n):
        share = n * math.exp(log_weight[i] - most) / total
        copies[i] = math.ceil(sum_before + share - point) - math.ceil(sum_before - point)
        sum_before += share
    spare = 0
    for i in range(n):
        if copies[i] > 0:
            continue
        while spare < n and copies[spare] < 2:
            spare += 1
        if spare == n:  # by rounding
            return
        copies[spare] -= 1
        _copy_particle(state.users, state.rewards.of_user.length, spare, i)
        _copy_particle(state.arms, state.rewards.of_arm.length, spare, i)


@kernel
def _copy_particle(side: np.ndarray, n_rewards: np.ndarray, particle: int, place: int) -> None:
    """Copy the coordinates of those with rewards. Others are draws of the prior, and stay so."""
    for each in range(n_rewards.size):
        for j in range(side.shape[2] if n_rewards[each] > 0 else 0):
            side[each, place, j] = side[each, particle, j]


@dataclass(frozen=True)
class Pts(Policy, name="pts"):
    """Pulls the arm with the highest u·v, where users' u and arms' v are drawn from a posterior.

    Particle Thompson sampling. A context says who the user is: the column of its largest number
    other than 0, as in an indicator of users. Rewards are `centre` + u·v with normal noise of
    deviation `noise`. Coordinates of u and v, `rank` of each, are normal with deviation `sd` at
    first. A particle has everybody's coordinates. To choose, one of `particles` is drawn, and u
    anew given its arms. A reward weighs the particles by its density, resamples them, and draws u
    and then v of its user and its arm again. So what one user shows of an arm serves all others.

    Differs from the paper: particles are resampled systematically, and deviations are parameters,
    as in its PTS, and not drawn, as in its PTS-B. Features of arms are not used.
    """

    source = "Kawale et al. 2015, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    rank: Count = 2
    particles: Count = field(default=30, kw_only=True)
    centre: Share = field(default=0.5, kw_only=True)
    noise: Positive = field(default=0.5, kw_only=True)
    sd: Positive = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return particles drawn from the prior."""
        n_users, n, size = max(shape.n_features, 1), shape.capacity, (self.particles, self.rank)
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        rewards = _Rewards(
            np.empty(n, np.int64),
            np.empty(n, np.int64),
            np.empty(n),
            empty_history(n_users, n, np.int64),
            empty_history(shape.n_arms, n, np.int64),
            np.zeros(1, np.int64),
        )
        return _State(
            rewards,
            np.zeros((n_users, *size)),
            normals(0.0, self.sd, (shape.n_arms, *size), rng),  # arm by arm
            np.empty(self.particles),
            _Normal(np.empty(self.rank), np.empty((self.rank, self.rank)), np.empty(self.rank)),
            float(self.centre),
            float(self.noise) ** 2,
            float(self.sd),
            ranking,
        )
