"""The command line: one command a file; being here is registration."""
