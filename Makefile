# Two commands do everything: `make report` and `make test`. Each makes .venv on its own.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
NN ?=
PACKAGES := bounds games simulate verify
SOURCES := $(PACKAGES) tests benchmarks examples docs
OUT ?= report
COVERAGE := --cov --cov-report=term:skip-covered
WORKERS ?= 2
SHARED := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: report test test-all coverage lint bench docs clean

report: $(VENV)/.core
	$(BIN)/python -m verify.report --out $(OUT)

test: lint
	$(BIN)/python -m pytest $(SHARED) -m "not slow"

test-all: lint
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest $(SHARED) $(COVERAGE)

coverage: $(VENV)/.test
	$(BIN)/python -m pytest $(SHARED) -m "not slow" $(COVERAGE)

lint: $(VENV)/.test$(if $(NN),-nn)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	$(PIP) -e '.[dev]'
	$(BIN)/python -m pytest benchmarks/bench_bounds.py -o addopts= --benchmark-only
	$(BIN)/python benchmarks/bench_games.py
	$(BIN)/python benchmarks/bench_simulate.py
	$(BIN)/python benchmarks/bench_plan.py
	$(BIN)/python benchmarks/bench_sweep.py

docs: $(VENV)/.test
	$(BIN)/python docs/build.py
	$(BIN)/python docs/readme_figure.py
	$(BIN)/python docs/section_5.py
	$(BIN)/python docs/instances.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[test,fast,prove]'
	@touch $@

$(VENV)/.test-nn: $(VENV)/.test
	$(PIP) -e '.[nn]'
	@touch $@

clean:
	rm -rf $(VENV) $(OUT) .mypy_cache .ruff_cache .coverage
