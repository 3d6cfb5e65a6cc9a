"""What the kernels compute, in NumPy and in the plainest way.

A twin is told which arms a kernel pulled. In each round it says which arm it would have pulled with
the same draws, from what it was told of the rounds before.
"""

import numpy as np

from giro.offer import Shape
from giro.seeds import stream

ENTRIES, PSEUDO, TIES, EXPLORING, ANY_ARM, WEIGHTS, REPLICA, NORMAL, ORDER = range(9)
_WORD = (1 << 32) - 1


def philox(counter, key):
    """Return four words: Salmon et al. (2011), ten rounds."""
    k = [int(v) for v in key]
    c = np.broadcast_arrays(*[np.asarray(v, np.uint64) for v in counter])
    mask, half = np.uint64(_WORD), np.uint64(32)
    for _ in range(10):
        one, two = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (two >> half) ^ c[1] ^ np.uint64(k[0]),
            two & mask,
            (one >> half) ^ c[3] ^ np.uint64(k[1]),
            one & mask,
        ]
        k = [(k[0] + 0x9E3779B9) & _WORD, (k[1] + 0xBB67AE85) & _WORD]
    return c


def uniform(high, low):
    return ((high >> np.uint64(5)) * 67108864.0 + (low >> np.uint64(6))) / 2.0**53


def sigmoid(score):
    return 0.5 * (1.0 + np.tanh(0.5 * score))


class Twin:
    """Draws and histories of one run."""

    def __init__(self, work, run):
        self.policy, self.run, self.seed = work.policy, run, work.setting.seed
        self.k, self.d = work.problem.n_arms, work.problem.n_features + 1
        self.rounds = work.setting.rounds
        self.rows = [np.zeros((0, self.d)) for _ in range(self.k)]
        self.rewards = [np.zeros(0) for _ in range(self.k)]
        self.t = 0

    def words(self, purpose, arm, index):
        counter = (index, self.t, purpose << 16 | arm, self.run)
        return philox(counter, (self.seed & _WORD, self.seed >> 32))

    def below(self, word, n):
        return (word * np.uint64(n)) >> np.uint64(32)

    def drawn_uniform(self, purpose, arm, index):
        w = self.words(purpose, arm, index)
        return float(uniform(w[0], w[1]))

    def pseudo_count(self, arm):
        product = self.policy.a * self.rewards[arm].size
        nearest = np.floor(product + 0.5)
        if abs(product - nearest) <= 1e-12 * product:
            return int(nearest)
        below = np.floor(product)
        return int(below) + int(self.drawn_uniform(PSEUDO, arm, 0) < product - below)

    def entries(self, arm):
        """Return row and target of each entry of a bootstrap sample, in its order."""
        s, k = self.rewards[arm].size, self.pseudo_count(arm)
        m = s + 2 * k
        w = self.words(ENTRIES, arm, np.arange((m + 1) // 2))
        kind_words = np.stack([w[0], w[2]], 1).ravel()[:m]
        row_words = np.stack([w[1], w[3]], 1).ravel()[:m]
        place, row = self.below(kind_words, m), self.below(row_words, s).astype(int)
        target = np.where(place < s, self.rewards[arm][row], np.where(place < s + k, 1.0, 0.0))
        return row, target

    def explored(self):
        """Return the arm that is pulled to explore, or None."""
        state = type(self.policy)(self.policy.epsilon, self.policy.b, self.policy.share)
        shape = Shape(self.k, self.d - 1, 0, self.rounds, self.rounds)
        begun = state.start(shape, stream(0))
        epsilon = max(begun.epsilon, min(1.0, begun.b / (self.t + 1)))
        if self.drawn_uniform(EXPLORING, 0, 0) >= epsilon:
            return None
        return int(self.below(self.words(ANY_ARM, 0, 0)[0], self.k))

    def untried_first(self):
        return np.array([np.inf if r.size == 0 else 0.0 for r in self.rewards])

    def pull(self, x):
        """Return the arm to be pulled at a context, and None where equal arms are drawn among."""
        values = self.values(x)
        best = np.flatnonzero(values == values.max())
        return int(best[0]) if best.size == 1 else None

    def learn(self, x, arm, reward):
        self.rows[arm] = np.vstack([self.rows[arm], x])
        self.rewards[arm] = np.append(self.rewards[arm], reward)
        self.t += 1


class LinearGiro(Twin):
    def values(self, x):
        untried = self.untried_first()
        if untried.max() > 0.0:
            return untried
        values = np.zeros(self.k)
        for arm in range(self.k):
            row, target = self.entries(arm)
            chosen = self.rows[arm][row]
            gram = chosen.T @ chosen + self.policy.model.penalty * np.eye(self.d)
            values[arm] = x @ np.linalg.solve(gram, chosen.T @ target)
        return values


def logistic_fit(rows, weight, total, penalty):
    """Return the minimiser of the penalised likelihood, by damped Newton steps from 0."""
    theta = np.zeros(rows.shape[1])

    def loss(at):
        score = rows @ at
        return (weight * np.logaddexp(0, score) - total * score).sum() + penalty * at @ at / 2

    for _ in range(200):
        p = sigmoid(rows @ theta)
        gradient = rows.T @ (weight * p - total) + penalty * theta
        spread = weight * p * (1 - p)
        hessian = (rows * spread[:, None]).T @ rows + penalty * np.eye(theta.size)
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while loss(theta - length * step) > loss(theta) and length > 1e-9:
            length /= 2
        theta = theta - length * step
        if gradient @ step < 1e-22:
            break
    return theta


class LogisticGiro(Twin):
    def values(self, x):
        untried = self.untried_first()
        if untried.max() > 0.0:
            return untried
        values = np.zeros(self.k)
        for arm in range(self.k):
            row, target = self.entries(arm)
            rows = self.rows[arm][row]
            theta = logistic_fit(rows, np.ones(row.size), target, self.policy.model.penalty)
            values[arm] = x @ theta
        return values


class Networks(Twin):
    """Networks in single precision; sums are in another order than the kernel's."""

    def __init__(self, work, run):
        super().__init__(work, run)
        model = self.policy.model
        state = model.start(self.k, self.d, 1, stream(self.seed, run, 1))
        h = model.hidden
        self.hidden = state.networks.hidden.reshape(self.k, self.d, -1)[:, :, :h].astype(np.float32)
        self.output = state.networks.output[:, :h].astype(np.float32)
        self.bias = np.zeros(self.k, np.float32)

    def train(self, arm, row, target):
        rate = np.float32(self.policy.model.rate)
        w, v, b = self.hidden[arm], self.output[arm], self.bias[arm]
        for first in range(0, row.size, 32):
            x = self.rows[arm][row[first : first + 32]].astype(np.float32)
            y = target[first : first + 32].astype(np.float32)
            units = np.maximum(x @ w, 0)
            error = sigmoid(units @ v + b).astype(np.float32) - y
            step = rate / np.float32(y.size)
            back = np.where(units > 0, error[:, None] * v, 0)
            w, v, b = w - step * (x.T @ back), v - step * (error @ units), b - step * error.sum()
        self.hidden[arm], self.output[arm], self.bias[arm] = w, v, b

    def expected(self, arm, x):
        units = np.maximum(x.astype(np.float32) @ self.hidden[arm], 0)
        return float(sigmoid(units @ self.output[arm] + self.bias[arm]))


class NetworkGiro(Networks):
    def entries(self, arm):
        """Return the entries in the order of the kernel: each lane draws its own."""
        s, k = self.rewards[arm].size, self.pseudo_count(arm)
        m = s + 2 * k
        batches = (m + 31) // 32
        pairs = (batches + 1) // 2
        w = self.words(ENTRIES, arm, np.arange(32 * pairs))
        lanes = [v.reshape(pairs, 32) for v in w]
        kind_words = np.stack([lanes[0], lanes[2]], 1).ravel()[:m]
        row_words = np.stack([lanes[1], lanes[3]], 1).ravel()[:m]
        place, row = self.below(kind_words, m), self.below(row_words, s).astype(int)
        target = np.where(place < s, self.rewards[arm][row], np.where(place < s + k, 1.0, 0.0))
        return row, target

    def values(self, x):
        untried = self.untried_first()
        if untried.max() > 0.0:
            return untried
        for arm in range(self.k):
            self.train(arm, *self.entries(arm))
        return np.array([self.expected(arm, x) for arm in range(self.k)])


def permutation(s, factors, shifts):
    """Return the kernel's bijection of 0, ..., s - 1."""
    bits = 2
    while 1 << bits < s:
        bits += 1
    mask, half = (1 << bits) - 1, (bits + 1) // 2
    places = []
    for start in range(s):
        i = start
        while True:
            for factor, shift in zip(factors, shifts, strict=True):
                i = (i * (factor | 1) + shift) & mask
                i ^= i >> half
            if i < s:
                break
        places.append(i)
    return np.array(places)


class GreedyNetworks(Networks):
    def pull(self, x):
        for arm in range(self.k):
            s = self.rewards[arm].size
            if s:
                factors = [int(v) for v in self.words(ORDER, arm, 0)]
                shifts = [int(v) for v in self.words(ORDER, arm, 1)]
                row = permutation(s, factors, shifts)
                self.train(arm, row, self.rewards[arm][row])
        any_arm = self.explored()
        return super().pull(x) if any_arm is None else any_arm

    def values(self, x):
        tried = [self.expected(arm, x) for arm in range(self.k)]
        return np.where(self.untried_first() > 0.0, np.inf, tried)


class SgdGiro(Twin):
    """Linear models by stochastic gradient, step by step, in the kernel's orders."""

    def __init__(self, work, run, *, steepest=1e12):
        super().__init__(work, run)
        self.theta, self.steepest = np.zeros((self.k, self.d)), steepest

    def fit(self, arm, row, target):
        model, theta = self.policy.model, self.theta[arm]
        lowest, without_improvement, steps = np.inf, 0, 0
        for number in range(1000):
            factors, shifts = (self.words(ORDER, arm, 2 * number + i) for i in (0, 1))
            loss = 0.0
            for i in permutation(row.size, [int(v) for v in factors], [int(v) for v in shifts]):
                x = self.rows[arm][row[i]]
                slope, steps = x @ theta - target[i], steps + 1
                loss += (slope**2 + model.penalty * theta @ theta) / 2 / row.size
                rate = 0.01 * steps**-0.25
                theta *= 1 - rate * model.penalty
                theta -= rate * np.clip(slope, -self.steepest, self.steepest) * x
            without_improvement = (without_improvement + 1) * (loss > lowest - model.tolerance)
            lowest = min(lowest, loss)
            if without_improvement == 5:
                break
        if not np.abs(theta).max() <= 1e6:
            theta[:] = 0

    def values(self, x):
        untried = self.untried_first()
        if untried.max() > 0.0:
            return untried
        for arm in range(self.k):
            self.fit(arm, *self.entries(arm))
        return self.theta @ x


class GreedySgd(SgdGiro):
    def pull(self, x):
        for arm in range(self.k):
            s = self.rewards[arm].size
            if s:
                self.fit(arm, np.arange(s), self.rewards[arm])
        any_arm = self.explored()
        return super().pull(x) if any_arm is None else any_arm

    def values(self, x):
        return np.where(self.untried_first() > 0.0, np.inf, self.theta @ x)


class Ridge(Twin):
    """Regressions with weights of rows, each fitted anew."""

    def fitted(self, arm, weight, total, x):
        rows = self.rows[arm]
        gram = (rows * weight[:, None]).T @ rows + self.penalty * np.eye(self.d)
        score = x @ np.linalg.solve(gram, rows.T @ total)
        return score, float(np.sqrt(x @ np.linalg.solve(gram, x))), gram

    def plain(self, arm, x):
        return self.fitted(arm, np.ones(self.rewards[arm].size), self.rewards[arm], x)


class GreedyLinear(Ridge):
    def pull(self, x):
        any_arm = self.explored()
        return super().pull(x) if any_arm is None else any_arm

    def values(self, x):
        self.penalty = self.policy.model.penalty
        values = [self.plain(arm, x)[0] for arm in range(self.k)]
        return np.where(self.untried_first() > 0.0, np.inf, values)


class LinUcb(Ridge):
    def values(self, x):
        self.penalty = self.policy.penalty
        values = np.zeros(self.k)
        for arm in range(self.k):
            score, width, gram = self.plain(arm, x)
            volume = np.linalg.slogdet(gram / self.penalty)[1]
            radius = self.policy.scale
            if radius is None:
                radius = 0.5 * np.sqrt(2 * (volume / 2 - np.log(self.policy.delta)))
                radius += np.sqrt(self.penalty) * self.policy.norm
            values[arm] = score + radius * width
        return np.round(values, 9)


class LinTs(Ridge):
    def values(self, x):
        self.penalty = self.policy.penalty
        v = self.policy.scale
        if v is None:
            v = 0.5 * np.sqrt(9 * self.d * np.log((self.t + 1) / self.policy.delta))
        values = np.zeros(self.k)
        for arm in range(self.k):
            score, width, _ = self.plain(arm, x)
            w = self.words(NORMAL, arm, 0)
            radius = np.sqrt(-2 * np.log(1 - uniform(w[0], w[1])))
            normal = radius * np.cos(2 * np.pi * uniform(w[2], w[3]))
            values[arm] = score + v * width * normal
        return values


def poisson(mean, u):
    k, here = 0, np.exp(-mean)
    total = here
    while u >= total:
        k += 1
        here *= mean / k
        total += here
    return k


def drawn_weight(kind, mean, u):
    if mean == 0:
        return 0.0
    if kind == "exponential":
        return -mean * np.log(1 - u)
    if kind == "double":
        return 2 * mean if u < 0.5 else 0.0
    return poisson(mean, u)


class Replicas(Ridge):
    def __init__(self, work, run):
        super().__init__(work, run)
        self.weights = [[] for _ in range(self.k)]  # [arm][row] real, one, zero of each replica
        self.penalty = self.policy.model.penalty

    def values(self, x):
        values = self.untried_first()
        for arm in range(self.k):
            if self.rewards[arm].size:
                which = int(self.below(self.words(REPLICA, arm, 0)[0], self.policy.replicas))
                counts = np.array(self.weights[arm])[:, which]
                total = counts[:, 0] * self.rewards[arm] + counts[:, 1]
                values[arm] = self.fitted(arm, counts.sum(1), total, x)[0]
        return np.round(values, 9)

    def learn(self, x, arm, reward):
        policy = self.policy.resolved(contextual=True)
        counts, a, kind = [], getattr(policy, "a", 0.0), getattr(policy, "weights", "poisson")
        for replica in range(self.policy.replicas):
            w, v = self.words(WEIGHTS, replica, 0), self.words(WEIGHTS, replica, 1)
            pairs = ((1.0, w[0], w[1]), (a, w[2], w[3]), (a, v[0], v[1]))
            counts.append([drawn_weight(kind, m, float(uniform(*p))) for m, *p in pairs])
        self.weights[arm].append(counts)
        super().learn(x, arm, reward)


class GreedyLogistic(Twin):
    def pull(self, x):
        any_arm = self.explored()
        return super().pull(x) if any_arm is None else any_arm

    def scores(self, x, penalty):
        scores = np.zeros(self.k)
        for arm in range(self.k):
            rewards = self.rewards[arm]
            theta = logistic_fit(self.rows[arm], np.ones(rewards.size), rewards, penalty)
            scores[arm] = x @ theta
        return scores

    def values(self, x):
        scores = self.scores(x, self.policy.model.penalty)
        return np.where(self.untried_first() > 0.0, np.inf, scores)


class UcbGlm(GreedyLogistic):
    def pull(self, x):
        tau = self.d * self.k if self.policy.tau is None else self.policy.tau
        if self.t < tau:
            return int(self.below(self.words(ANY_ARM, 0, 0)[0], self.k))
        return Twin.pull(self, x)

    def values(self, x):
        shape = Shape(self.k, self.d - 1, 0, self.rounds, 1)
        alpha, penalty = self.policy.start(shape, stream(0)).alpha, self.policy.penalty
        values = self.scores(x, penalty)
        for arm in range(self.k):
            gram = self.rows[arm].T @ self.rows[arm] + penalty * np.eye(self.d)
            values[arm] += alpha * np.sqrt(x @ np.linalg.solve(gram, x))
        return np.round(values, 9)


def twin_of(work, run):
    """Return the twin of a policy's kernels."""
    name = work.policy.name
    model = type(getattr(work.policy, "model", None)).__name__
    kinds = {
        ("contextual-giro", "Linear"): LinearGiro,
        ("contextual-giro", "Logistic"): LogisticGiro,
        ("contextual-giro", "Network"): NetworkGiro,
        ("epsilon-greedy", "Linear"): GreedyLinear,
        ("epsilon-greedy", "Logistic"): GreedyLogistic,
        ("epsilon-greedy", "Network"): GreedyNetworks,
        ("contextual-giro", "LinearSgd"): SgdGiro,
        ("epsilon-greedy", "LinearSgd"): GreedySgd,
        ("giro-ensemble", "Linear"): Replicas,
        ("poisson-bootstrap", "Linear"): Replicas,
        ("lin-ucb", "NoneType"): LinUcb,
        ("lin-ts", "NoneType"): LinTs,
        ("ucb-glm", "NoneType"): UcbGlm,
    }
    return kinds[name, model](work, run)


def agreement(work, run, arms, order):
    """Return in how many of the rounds the twin pulls the arm that the kernel pulled.

    Rounds in which equal arms are drawn among are left out; so the second number is how many count.
    """
    twin, rows = twin_of(work, run), work.problem.rows
    contexts = rows.contexts.astype(np.float32).astype(np.float64)
    same = counted = 0
    for arm, row in zip(arms.astype(int), order, strict=True):
        x = np.append(contexts[row], 1.0)
        wanted = twin.pull(x)
        if wanted is not None:
            counted += 1
            same += wanted == arm
        twin.learn(x, arm, float(rows.labels[row] == arm))
    return same, counted
