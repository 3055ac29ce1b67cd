# `make help` lists the targets and their variables.

PYTHON ?= python3
CORES ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count())")
EXTRAS ?=
STUDY ?=
ARGS ?=
PYTEST_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install --no-deps --no-compile
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps
# uv reads no pip.conf: where only that names a mirror, pip installs.
define LOCKED
$(BIN)/python envs/lock.py show $* > $(VENV)/$*.txt
$(UV) --require-hashes -r $(VENV)/$*.txt || $(PIP) --require-hashes -r $(VENV)/$*.txt
endef
WITHOUT_TESTS = find $(VENV)/lib -type d -name tests -prune -exec rm -r {} + # the packages' own: 56 MB of the default
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONDONTWRITEBYTECODE # else each job compiles all that it imports anew

.PHONY: help env results desk check test lint replay record bench lock schema docs site clean

help: ## list the targets
	@echo "Usage: make TARGET [VARIABLE=VALUE ...]"
	@sed -n 's/^\([a-z]*\)[a-z ]*:.*## /  \1|/p' Makefile | while IFS='|' read -r target text; do printf '  %-9s %s\n' "$$target" "$$text"; done
	@echo 'Variables:'
	@echo '  EXTRAS="tabular postgres"  also installs these extras of pyproject.toml'
	@echo '  STUDY=courtroom            builds one study alone'
	@echo '  CORES=2                    how many cores to use; default: all'
	@echo '  PYTHON=python3.12          which Python makes the environment'

env: $(addprefix $(VENV)/.,$(addsuffix .installed,default $(EXTRAS))) ## install what moot needs into .venv

$(BIN)/python:
	@$(PYTHON) -c "import sys; sys.exit('moot needs Python 3.11 or newer; this is ' + sys.version.split()[0] + '. Try: make PYTHON=python3.11') if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r envs/uv.txt

$(VENV)/.%.installed: envs/lock.txt | $(BIN)/python
	$(LOCKED)
	@$(WITHOUT_TESTS)
	@touch $@

# Builds of torch differ by machine, so that the lock holds no hash of it: see docs/baselines.md. A build for GPUs brings its libraries.
TORCH ?= torch==2.13.0
$(addprefix $(VENV)/.,$(addsuffix .installed,tabular text transformers)): $(VENV)/.%.installed: envs/lock.txt | $(BIN)/python
	$(LOCKED)
	$(subst --no-deps,,$(PIP)) $(TORCH)
	@$(WITHOUT_TESTS)
	@$(BIN)/python -c "import torch"
	@touch $@

results: env ## build all tables and figures; open results/index.html
	$(BIN)/snakemake $(STUDY) --cores $(CORES)
	@echo
	@echo "Start here:  results/$(or $(STUDY),index).html  (questions and answers, then all that was built)"
	@echo "Tables:      results/tables/    (CSV, LaTeX, HTML)"
	@echo "Figures:     results/figures/   (PNG, SVG)"
	@echo "Debates:     results/reader/    (a page a study, for a browser)"
	@echo "In one file: $(BIN)/snakemake $(STUDY) --cores 1 --report report.html"

# ARGS="--configfile my.yaml" names the configuration whose debates people sit in.
desk: env ## open the pages on which people take seats and label
	$(BIN)/python scripts/desk.py $(BIN)/snakemake debates --cores $(CORES) $(ARGS)

# `check` runs the linters, the types, and the tests that are not marked as slow.
# loadfile: with worksteal each worker would build the workflows of a module's fixtures anew. Slow files come first (tests/conftest.py).
PYTEST = $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder # on two cores too, since some tests wait
check test lint: override EXTRAS += test site
check: lint ## linters, types and the quick tests
	$(PYTEST) -m "not slow" --durations 10

test: lint ## linters and all tests
	$(PYTEST) --durations 20 $(PYTEST_ARGS)

lint: ## linters and types alone
	@$(MAKE) --no-print-directory env EXTRAS="$(EXTRAS)"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint
	$(BIN)/pyrefly check
	PYTHONPATH=scripts $(BIN)/lint-imports --no-cache
	$(BIN)/python benchmarks/readability.py --check

RECORDED_PAGE := results/papers/courtroom.html
replay: env ## build a recorded study again without a model
	$(BIN)/python scripts/import_calls.py --ledger data/ledger/recording data/recording
	$(BIN)/snakemake courtroom $(RECORDED_PAGE) --cores $(CORES) --configfile config/replay.yaml

record: env ## record that study anew, after a change of its prompts
	$(BIN)/snakemake courtroom --cores $(CORES) --configfile config/replay.yaml --config replay=false
	$(BIN)/python scripts/record.py results/calls data/recording/courtroom.parquet
	$(BIN)/snakemake $(RECORDED_PAGE) --cores $(CORES) --configfile config/replay.yaml data/recording/tables.yaml
	cp $(addprefix results/papers/courtroom/,table4.csv table5.csv scores.csv) data/recording/tables/

bench: EXTRAS += test
bench: ## benchmarks, and the grids of the statistics
	@$(MAKE) --no-print-directory env EXTRAS="$(EXTRAS)"
	$(BIN)/python benchmarks/run.py

schema: ## write config/schema.json anew
	PYTHONPATH=scripts $(BIN)/python -c "from moot.core.config import schema_json; print(schema_json(), end='')" > config/schema.json

docs: ## write the generated parts of the pages anew
	$(BIN)/python scripts/write_docs.py

# The site includes the results that `make results` built last, if there are any.
site: EXTRAS += site
site: ## build the pages as a site
	@$(MAKE) --no-print-directory env EXTRAS="$(EXTRAS)"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean --strict

# TORCH is changed by hand. UPGRADE="pandas scipy" takes newer versions of these, UPGRADE=all of everything.
lock: | $(BIN)/python ## resolve the packages anew
	$(PYTHON) envs/lock.py update $(UPGRADE)

clean: ## remove results, not the ledger
	find results -mindepth 1 -not -path results/README.md -delete
	rm -rf .snakemake report.html
