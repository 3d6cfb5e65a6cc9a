"""The arm with the highest value, and each arm's probability of having it."""
