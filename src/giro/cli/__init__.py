"""The command line, one file for each command. A file in this folder registers itself."""
