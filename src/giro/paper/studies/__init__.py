"""What the paper shows: one file a figure or statement, with its experiment and its claims."""
