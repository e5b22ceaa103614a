# Two commands need nothing but Python 3.11+, make, git and a C compiler: `make demo` and `make test`.
PYTHON ?= python3
BIN    := .venv/bin

.PHONY: help setup java demo test check check-deep bench kafka golden clean
help:           ## what there is to make
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready java   ## the virtual environment, and a Java runtime where there is none

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Weft needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

java:
	@scripts/java.sh

demo: setup     ## a trade stream, a few hundred queries, their plan, and the answers checked against Spark's own
	@$(BIN)/weft demo

test: check     ## all checks and all tests
	$(BIN)/python -m pytest

check: setup    ## lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-deep: check ## the differential suite at its large size (an hour or so)
	WEFT_PROFILE=deep $(BIN)/python -m pytest -m "deep or not deep" tests

bench: setup    ## the numbers of the README, measured here (an hour or so)
	$(BIN)/weft bench batch
	$(BIN)/weft bench keys
	$(BIN)/weft bench stream
	$(BIN)/weft bench planners
	$(BIN)/weft bench techniques

kafka: setup    ## Spark's Kafka connector and a broker, through mvn, for the tests that need one
	@scripts/kafka/fetch.sh $(BIN)/python

golden: setup   ## rewrite the golden texts of EXPLAIN and its kin; read the diff
	WEFT_GOLDEN=rewrite $(BIN)/python -m pytest tests/plans tests/planners tests/techniques/test_cards.py

clean:          ## remove what setup made
	rm -rf .venv .kafka build dist src/*.egg-info
