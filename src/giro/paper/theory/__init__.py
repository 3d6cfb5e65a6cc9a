"""One file a statement of the paper: what it says, as functions, and the report that checks it."""
