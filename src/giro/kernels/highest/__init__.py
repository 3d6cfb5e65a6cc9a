"""Which arm has the highest value, and with what probability."""
