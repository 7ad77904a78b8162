# Two commands do all the set-up; each may be the first one typed, and each is quick the second time.
#   make demo    an environment, then captions to dataset on the bundled sample
#   make test    an environment, then formatting, lint, types and all tests

PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
INSTALL := UV_FIND_LINKS="$${PIP_FIND_LINKS:-}" $(UV) pip install -q --python $(VENV)/bin/python -c constraints.txt

# Tests start hundreds of processes: each would compile our files anew where the environment says to keep no bytecode.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test lint style clean

demo: $(VENV)/.base
	$(VENV)/bin/swag-af demo --out demo

# Types are checked while tests run: by itself mypy leaves all cores but one idle for a minute. Neighbours stay with one
# worker, so that what the tests of a file share is mostly made once. What mypy finds is said last, where one looks.
test: style
	@$(VENV)/bin/mypy > $(VENV)/types.txt 2>&1 & types=$$!; $(VENV)/bin/python -m pytest -n auto --dist worksteal; tests=$$?; \
	wait $$types; typed=$$?; cat $(VENV)/types.txt; exit $$((tests | typed))

lint: style
	$(VENV)/bin/mypy

style: $(VENV)/.dev
	$(VENV)/bin/ruff format --check -q .
	$(VENV)/bin/ruff check -q .

$(UV):
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install -q uv

$(VENV)/.base: $(UV) pyproject.toml constraints.txt
	$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(UV) pyproject.toml constraints.txt
	$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) demo
