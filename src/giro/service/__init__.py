"""A decision service: bandits of a store behind HTTP. It knows giro's public API only."""
