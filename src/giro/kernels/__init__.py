"""Numbers and an rng in, numbers out."""
