# Bare `make` prints every target. PYTHON chooses the interpreter of the virtual environment (3.11 or later).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Files of tests that run side by side: one more than two processors, since many tests wait for a browser.
TEST_JOBS ?= 3
# In their order: xdist would begin with the files of most tests and leave the longest, which have few, to one job at the end.
SIDE_BY_SIDE := --dist loadfile --no-loadscope-reorder
# Files that have a slow test, so that no job reads the others; those of runs come last, of which many are short.
SLOW_FILES = $(sort $(shell grep -rl --include='test_*.py' 'mark\.slow' tests))
SLOW = $(filter-out tests/runs/%,$(SLOW_FILES)) $(filter tests/runs/%,$(SLOW_FILES))
# Whatever the surroundings say, compiled Python is kept: the tests start hundreds of processes.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
CAMPAIGNS ?= bits kills cluster_kills faults reading_faults fuzz numbers ranks same_bits index_checks mutations coverage_of_intervals endurance
PORT = 5006
ENGINES := svb,cvb,cgs,svb-cgs,cvb-cgs,cv-hdp
.DEFAULT_GOAL := help
.PHONY: help demo serve lab docs test test-slow torture check bench load figures gallery ledger browser words clean

help:  ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1|/' | awk -F'|' '{printf "make %-9s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("workbench needs Python 3.11 or later; this is " + sys.version.split()[0] + "; try make PYTHON=python3.12") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# One marker file per set of extras; reinstalled when pyproject.toml changes.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[pages]'
	@touch $@
$(VENV)/.installed-%: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

demo: $(VENV)/.installed  ## compare the engines on the bundled corpus; table, figures and report in out/demo
	$(BIN)/workbench compare docstrings --engines $(ENGINES) --iterations 100 --jobs 2 --store out/demo/runs
	@$(BIN)/workbench figures out/demo/runs/* --out out/demo/figures --json > /dev/null
	@$(BIN)/workbench report out/demo/runs/* --out out/demo/report.html --json > /dev/null
	@echo "report:  out/demo/report.html"
	@echo "figures: out/demo/figures"
	@echo "runs:    out/demo/runs; $(BIN)/workbench serve --store out/demo/runs shows them"

# The server prints its address when it has its port; without one nothing is started, and a second call reopens the runs.
serve: $(VENV)/.installed  ## open the dashboard at PORT (5006), and start a comparison (a second call reopens it)
	@$(BIN)/workbench serve --port $(PORT) --show | { read -r address && echo "$$address" && \
	  { $(BIN)/workbench compare docstrings --engines $(ENGINES) --iterations 2000 --detach; cat; }; }

lab: $(VENV)/.installed-lab  ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab notebooks

docs: $(VENV)/.installed-docs  ## build the site of the documentation, out/docs/index.html, and execute its notebooks
	$(BIN)/python docs/site/build.py

test: $(VENV)/.installed-test browser  ## run the tests that are quick, some ten minutes (installs what they need, the browser included, or says how)
	$(PYTEST) -m 'not slow and not long' -n $(TEST_JOBS) $(SIDE_BY_SIDE) $(PYTEST_ARGUMENTS)

test-slow: $(VENV)/.installed-test browser  ## run the tests that take over two seconds each: browser, cluster, notebooks, samplers
	$(PYTEST) $(if $(findstring tests/,$(PYTEST_ARGUMENTS)),,$(SLOW)) -m 'slow and not long' -n $(TEST_JOBS) $(SIDE_BY_SIDE) $(PYTEST_ARGUMENTS)

torture: $(VENV)/.installed-test browser  ## run what takes hours: the long tests, then every campaign of tests/campaigns; CAMPAIGNS chooses
	@failed=; $(PYTEST) -m long -n $(TEST_JOBS) $(SIDE_BY_SIDE) || failed="the long tests"; \
	for campaign in $(CAMPAIGNS); do echo "## $$campaign"; \
	  PYTHONPATH=tests $(BIN)/python tests/campaigns/test_$$campaign.py || failed="$$failed $$campaign"; done; \
	if [ -n "$$failed" ]; then echo "something went wrong in: $$failed"; exit 1; fi

check: $(VENV)/.installed-test  ## check style, types, layers and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyrefly check --python-interpreter-path $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/codespell
	@$(MAKE) --no-print-directory words

# Phrases of docs/plain_words.txt, each with what to write instead.
TEXTS ?= README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs \
	$(addprefix workbench/,runs corpus data records cli report papers models measures engines)
GENERATED := docs/ledger.md,docs/benchmarks,docs/gallery/README.md
words:  ## check the texts for people for phrases of docs/plain_words.txt
	$(BIN)/codespell --skip $(GENERATED) --dictionary docs/plain_words.txt --regex "(?i)\b($$(sed 's/->.*//' docs/plain_words.txt | paste -sd'|' -))\b" $(TEXTS)

bench: $(VENV)/.installed-bench  ## measure the engines beside their peers, into docs/benchmarks; goes on where it was stopped
	$(BIN)/python benchmarks/run.py

load: $(VENV)/.installed-bench  ## measure the pages under many visitors, into docs/benchmarks
	$(BIN)/python benchmarks/run.py load --again

figures: $(VENV)/.installed-test browser  ## take the screenshots of docs/screenshots again
	$(BIN)/python docs/screenshots/take.py

gallery: $(VENV)/.installed-test browser  ## draw the gallery of figures in docs/gallery again
	$(BIN)/python docs/gallery/make.py

ledger: $(VENV)/.installed  ## write docs/ledger.md again from the results that come with the package
	$(BIN)/workbench ledger --shipped --out docs/ledger.md

browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	  else echo "the browser tests will be skipped: install Chromium (Debian and Ubuntu: sudo apt-get install chromium)"; fi

clean:  ## remove what make made (runs/ is kept)
	rm -rf $(VENV) out build dist .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
