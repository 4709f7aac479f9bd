# Two commands: `make demo` to see it, `make test` to check it. Both need only Python ≥ 3.11, make and git.
PYTHON ?= python3
PORT ?= 8000
HOST ?= 127.0.0.1
WORKERS ?= auto
BASE ?= python:3.12-slim
BIN := .venv/bin

# Tests start many processes: each compiles only what the one before has not.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test suite again release installation image audit faults fuzz pages pictures seeds check checks lint format clean

demo: .venv/demo
	$(BIN)/python manage.py demo --host $(HOST) --port $(PORT)

# mypy runs on one processor while the tests begin; what one of the two finds, the other finishes.
test: lint
	@$(MAKE) --no-print-directory -j2 check suite

# The tests that take longest are those of `make fuzz` and `make pages`, and of no other.
FUZZED := tests/api/test_fuzz.py tests/test_form_fuzz.py tests/test_damaged_files.py
DRAWN := tests/e2e/test_browser_protocols.py tests/e2e/test_all_pages.py

suite: .venv/test
	@$(MAKE) --no-print-directory .tools/ready || echo 'NO TOOLS: what needs .tools is not tested.'
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(addprefix --ignore=,$(FUZZED) $(DRAWN))

# What failed last, with the seed that it failed with.
again: .venv/test
	TEST_SEED=$$(cat .pytest_cache/v/evalsite/seed) $(BIN)/python -m pytest -n $(WORKERS) --last-failed --last-failed-no-failures none

# 200 workers rate for three minutes while services are killed and the disk is full; a short run is among the tests.
faults: .venv/test
	FAULT_SECONDS=180 $(BIN)/python -m pytest --show-capture=no -rN -s tests/faults

# 5,000 random requests to the API, 5,000 random forms, and 10,000 damaged files.
# Here and below one test at a time is given to a process: those that take longest come first, and would all go to one.
fuzz: .venv/test
	$(BIN)/python -m pytest -n $(WORKERS) --maxschedchunk 1 --show-capture=stdout $(FUZZED)

# Each page in each state of a campaign, and a campaign of each protocol, in a browser.
pages: .venv/test
	$(BIN)/python -m pytest -n $(WORKERS) --maxschedchunk 1 $(DRAWN)

# All tests that draw anything, with fifty seeds.
seeds: .venv/test
	$(BIN)/python -m tests.chance $(or $(SEEDS),50)

# The pictures of the guides, from the pages as they are.
pictures: .venv/test
	DRAW_PICTURES=1 $(BIN)/python -m pytest -n $(WORKERS) tests/e2e/test_protocol_pictures.py -k draw

# Tools that the site does not need: for releases (CycloneDX), a validator of Croissant metadata, uvx.
.tools/ready: Makefile
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet cyclonedx-bom==7.5.0 "mlcroissant[parquet]==1.1.1" uv==0.13.9
	@touch $@

# Of the present commit, in dist: sdist, wheel, SBOM, its changes, SHA-256 of each; then the image, where Docker runs.
# Two builds give the same bytes. The version is that of a tag such as v1.2.3, or a development version.
release: .venv/test .tools/ready
	$(BIN)/python .ci/release
	@if docker info > /dev/null 2>&1; then $(MAKE) --no-print-directory image; else echo 'NO IMAGE: Docker does not run here.'; fi

# The demo of the present version, which later versions are tested to upgrade. Run it on a release, then commit it.
installation: .venv/test
	KEEP_BACKUP=$(CURDIR)/tests/data/installations/v$$($(BIN)/python .ci/release --version).zip $(BIN)/python -m pytest tests/test_wheel.py -k backed_up

# Needs a builder of BuildKit 0.13 (docker buildx create --use). The same bytes again only from the same base, so name
# its digest: BASE=python@sha256:…
image:
	@mkdir -p dist
	git archive HEAD | docker buildx build --build-arg SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) --build-arg BASE=$(BASE) \
		--provenance=false --output type=oci,dest=dist/evalsite-image.tar,rewrite-timestamp=true -

# Known vulnerabilities of the versions in constraints.txt. The tool has an environment of its own: the site needs none of it.
audit:
	$(PYTHON) .ci/audit

.audit/ready: Makefile
	$(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet pip-audit==2.10.1
	@touch $@

# What fails here is said again at the end of a run, whose tests go on meanwhile.
check: lint
	@mkdir -p var
	@$(MAKE) --no-print-directory checks > var/check.txt 2>&1 && cat var/check.txt || { cat var/check.txt; \
		tail -n 12 var/check.txt >> $${TEST_FAILURES:-/dev/null}; exit 1; }

checks:
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pyright
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
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[metrics,mturk,s3]'
	@touch $@

.venv/test: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,metrics,mturk,neural,s3]'
	@touch $@ .venv/demo

clean:
	rm -rf .venv .audit .tools var .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
