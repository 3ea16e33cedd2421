# Every target sets up what it needs; a machine with Python >= 3.11, git and make is enough.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: install dev demo test test-full lint bench clean

install: $(VENV)/.installed
dev: $(VENV)/.dev

$(VENV)/.installed: requirements.txt pyproject.toml plugins/biomed/pyproject.toml plugins/lakehouse_bi/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint requirements.txt -e '.[local]' -e plugins/biomed -e plugins/lakehouse_bi
	touch $@

$(VENV)/.dev: $(VENV)/.installed requirements-dev.txt
	$(PIP) install --constraint requirements.txt -r requirements-dev.txt -e '.[local,multilingual,ocr,postgres,s3,celery,otel]' -e 'plugins/biomed[chem,crf]'
	touch $@

demo: install
	$(BIN)/python examples/demo.py

test: dev
	$(BIN)/python -m pytest -q -n 3 --dist loadfile tests plugins/biomed/tests plugins/lakehouse_bi/tests

test-full: dev
	EAGLE_RAG_TEST_FULL=1 $(BIN)/python -m pytest -q tests plugins/biomed/tests plugins/lakehouse_bi/tests

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: dev
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf $(VENV) .demo build dist
