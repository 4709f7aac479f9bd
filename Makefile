# Two commands: `make demo` to see it, `make test` to check it. Both need only Python ≥ 3.11, make and git.
PYTHON ?= python3
PORT ?= 8000
HOST ?= 127.0.0.1
WORKERS ?= auto
BIN := .venv/bin

# Tests start many processes: each compiles only what the one before has not.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test fuzz pages check lint format clean

demo: .venv/demo
	$(BIN)/python manage.py demo --host $(HOST) --port $(PORT)

test: check
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Random requests to the API; a short run of the same is among the tests.
fuzz: .venv/test
	FUZZ_REQUESTS=5000 $(BIN)/python -m pytest --show-capture=stdout tests/api/test_fuzz.py

# Each page in each state of a campaign, in a browser; the tests look at it in one.
pages: .venv/test
	EVERY_STATE=1 $(BIN)/python -m pytest -n $(WORKERS) tests/e2e/test_all_pages.py

check: lint
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: .venv/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("evalsite needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv

.venv/demo: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[metrics]'
	@touch $@

.venv/test: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,metrics,neural]'
	@touch $@ .venv/demo

clean:
	rm -rf .venv var .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
