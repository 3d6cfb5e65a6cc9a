# Everything runs in .venv, which the first target makes; PYTHON chooses the interpreter.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint bench evidence

demo: $(READY)
	$(BIN)/giro simulate giro:a=1 giro:a=1/3 giro:a=0.1 ucb1 kl-ucb thompson \
		--problem bernoulli --rounds 10000 --runs 100 --seed 1 --plot results/demo/regret.png
	$(BIN)/python scripts/policy_table.py

test: lint
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/numpy_vectorised.py

evidence: $(READY)
	$(BIN)/python -m pytest -n 2 -m slow

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
