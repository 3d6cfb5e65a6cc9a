"""The commands `giro reproduce ...` and `giro theory ...`, which register themselves."""
