"""A file for each statement of the paper, with its functions and the report that checks it."""
