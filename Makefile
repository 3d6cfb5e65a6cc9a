# Everything runs in .venv, which the first target makes; PYTHON chooses the interpreter.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Bytecode is kept even where that is switched off: tests start a hundred processes. Of packages only
# what is used becomes bytecode, when it is first used.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: demo shop test pytest test-versions test-oldest test-newest test-obp test-gpu test-clients coverage lint docs bench torture evidence contextual-evidence

demo: $(READY)
	$(BIN)/giro reproduce mab
	$(BIN)/python scripts/tables.py

# A shop whose page a bandit chooses, with a crowd of visitors, until Ctrl+C. It needs few packages.
shop: .venv-shop/.ready
	@.venv-shop/bin/python examples/shop/run.py

test: $(READY)
	@$(MAKE) --no-print-directory --jobs 2 lint pytest

pytest: $(READY)
	$(BIN)/python -m pytest -n 2 -m "not slow"

# With the oldest and the newest NumPy and numba that are allowed: the same draws, to the last bit.
# The environments stay; `rm -r .venv-newest` before it looks for what has come out since.
test-versions: test-oldest test-newest

test-oldest test-newest: test-%: .venv-%/.ready
	.venv-$*/bin/python -m pytest -n 2 -q tests/golden tests/contract/test_plain_python.py

# Our estimates on the Open Bandit data against those of its own pipeline, fetched for this.
test-obp: $(READY)
	folder=$$(mktemp --directory) && trap "rm -r $$folder" EXIT && \
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $$folder obp==0.4.1 && \
	$(BIN)/python -m zipfile -e $$folder/obp-*.whl $$folder && \
	OBP_FOLDER=$$folder/obp $(BIN)/python -m pytest -q tests/evaluation/readers/test_open_bandit_pipeline.py

# Other makers' clients, fetched for this, against the service, and learning through its doors.
test-clients: $(READY)
	PYTHON=$(BIN)/python scripts/install_clients.sh
	GIRO_NEEDS_CLIENTS=1 $(BIN)/python -m pytest -q tests/service/test_personalizer_clients.py \
		tests/service/test_openfeature_clients.py tests/service/test_openapi_fuzz.py
	$(BIN)/python -m pytest -q -m slow tests/service

# The share of Python lines and branches that tests run; compiled kernels do not count.
# `make coverage TESTS=tests/datasets` is quicker, and prints what those tests run.
coverage: $(READY)
	$(BIN)/python -m pytest -n 2 -q -m "not slow" --cov --cov-report=term $(TESTS)

# What plays on a GPU, where there is one: `pip install -e '.[cuda]'` first.
test-gpu: $(READY)
	$(BIN)/python -m pytest -q -m gpu tests/kernels/cuda tests/simulation/engines/test_cuda.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)
	$(BIN)/python scripts/policy_catalogue.py
	$(BIN)/python scripts/explained_figures.py
	$(BIN)/python scripts/drift.py
	$(BIN)/python scripts/tables.py
	$(BIN)/python scripts/pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# All bars again, and the tables that show them: make bench, or make bench BENCH=--quick.
bench: $(READY)
	$(BIN)/python benchmarks/run.py $(BENCH)
	$(BIN)/python scripts/tables.py

# Processes on one bandit are killed at random moments, a thousand times on each store.
torture: $(READY)
	$(BIN)/python scripts/torture.py --store sqlite
	$(BIN)/python scripts/torture.py --store postgres
	$(BIN)/python scripts/torture_service.py --store sqlite
	$(BIN)/python scripts/torture_service.py --store postgres --workers 2
	$(BIN)/python scripts/torture_service.py --events 1000000

evidence: demo
	$(BIN)/giro reproduce linear-regret
	$(BIN)/giro theory all --out results/theory
	$(BIN)/giro reproduce family --rounds 10000 --runs 20
	$(BIN)/python scripts/delayed.py
	$(BIN)/python scripts/tables.py
	$(BIN)/python -m pytest tests/law --thorough
	$(BIN)/python -m pytest -n 2 -m slow
	$(MAKE) contextual-evidence

# The paper's contextual experiment: many hours on two cores; may be stopped, and goes on from there.
contextual-evidence: $(READY)
	$(BIN)/giro reproduce settings
	$(BIN)/giro reproduce contextual --scale paper
	$(BIN)/giro reproduce offline
	$(BIN)/python benchmarks/field.py
	$(BIN)/python scripts/tables.py

# A new pip takes two thirds of the time of an old one; what builds the package is installed once.
$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) --upgrade pip hatchling editables
	$(BIN)/python $(INSTALL) --no-build-isolation -e '.[dev]'
	touch $@

.venv-shop/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-shop
	.venv-shop/bin/python $(INSTALL) -e '.[serve,client]'
	touch $@

.venv-oldest/.ready: pyproject.toml tests/versions/oldest.txt
	python3.11 -m venv .venv-oldest
	.venv-oldest/bin/python $(INSTALL) -c tests/versions/oldest.txt -e '.[plots,models]' pytest pytest-xdist
	touch $@

.venv-newest/.ready: pyproject.toml
	python3.11 -m venv .venv-newest
	.venv-newest/bin/python $(INSTALL) --upgrade -e '.[plots,models]' pytest pytest-xdist
	touch $@
