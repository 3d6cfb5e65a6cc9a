"""A network with one hidden layer and Adam in plain NumPy: the judge of the compiled one."""

import numpy as np

from giro.kernels.network import NetworkWeights
from giro.kernels.regression.rows import Rows


class PlainAdam:
    """Weights W, v and b, and the running means of their gradients and of their squares."""

    def __init__(self, weights: NetworkWeights, hidden: int, *, rate: float, decay: float) -> None:
        width = weights.output.size
        w = weights.hidden.reshape(-1, width)[:, :hidden]
        self.weights = [w.copy(), weights.output[:hidden].copy(), weights.bias.copy()]
        self.mean = [np.zeros(array.shape) for array in self.weights]
        self.square = [np.zeros(array.shape) for array in self.weights]
        self.rate, self.decay, self.steps = rate, decay, 0

    def score(self, x: np.ndarray) -> np.ndarray:
        w, v, b = self.weights
        return np.maximum(x @ w, 0.0) @ v + b[0]

    def expected(self, x: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-self.score(x)))

    def slopes(self, x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        """Return those of the mean cross-entropy plus decay / 2 times the squared length."""
        w, v, _ = self.weights
        error = (self.expected(x) - y) / y.size
        spread = np.outer(error, v) * (x @ w > 0.0)
        slopes = [x.T @ spread, np.maximum(x @ w, 0.0).T @ error, np.array([error.sum()])]
        return [
            slope + self.decay * array for slope, array in zip(slopes, self.weights, strict=True)
        ]

    def step(self, x: np.ndarray, y: np.ndarray) -> None:
        """Kingma and Ba (2015), Algorithm 1, with the order of terms at the end of Section 2."""
        slopes = self.slopes(x, y)
        self.steps += 1
        rate = self.rate * np.sqrt(1.0 - 0.999**self.steps) / (1.0 - 0.9**self.steps)
        for i, slope in enumerate(slopes):
            self.mean[i] = 0.9 * self.mean[i] + 0.1 * slope
            self.square[i] = 0.999 * self.square[i] + 0.001 * slope**2
            self.weights[i] = self.weights[i] - rate * self.mean[i] / (
                np.sqrt(self.square[i]) + 1e-8
            )

    def learn(self, rows: Rows, entries: np.ndarray) -> None:
        """Take a step at entries, which are 4 × the row + 0 for its reward, 1 for 1, 2 for 0."""
        row, kind = entries // 4, entries % 4
        self.step(rows.contexts[row], np.choose(kind, [rows.rewards[row], 1.0, 0.0]))

    def assert_equals(self, weights: NetworkWeights) -> None:
        w, v, b = self.weights
        kept = weights.hidden.reshape(-1, weights.output.size)
        np.testing.assert_allclose(kept[:, : v.size], w, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(weights.output[: v.size], v, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(weights.bias, b, rtol=1e-10, atol=1e-10)
        assert not kept[:, v.size :].any() and not weights.output[v.size :].any()  # idle
