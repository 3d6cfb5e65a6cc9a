"""The commands `giro reproduce ...` and `giro theory ...`; being here is registration."""
