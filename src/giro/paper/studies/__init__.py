"""Studies: a file for each figure or statement, with its experiment and its claims."""
