"""The paper's bounds as functions, its lemmas as checks, the exact regret of small problems."""
