"""Linear models of hashed features, many replicas side by side."""
