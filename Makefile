# Everything runs in .venv, which is made when it is missing and renewed when pyproject.toml or the version changes:
# with what the command line needs at first, and with all extras and a group of pyproject.toml where a target needs it.
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/.ready
DEV = .venv/.ready-dev
BENCH = .venv/.ready-bench
DOCS = .venv/.ready-docs
ALL = '.[anndata,cli,dask,databases,excel]'
PARALLEL = --numprocesses auto --dist worksteal
# Types are checked and documents built with the newest versions; old packages warn about new ones that they need.
OLD = --ignore tests/install --ignore tests/test_typing.py -W ignore::DeprecationWarning \
	--deselect=tests/docs/test_references.py::test_every_command_has_a_page_with_all_its_options

.PHONY: help demo docs docs-check docs-links release-check test test-fast test-lowest test-newest coverage mutants faults \
	nightly check audit format bench bench-quality bench-scale fuzz reproduce clean

help:
	@echo "make demo       co-cluster a bundled data set, from the command to the report"
	@echo "make test       run the whole test suite"
	@echo "make test-fast  run the core: the mathematics and the search (a minute)"
	@echo "make test-lowest  run all tests with the lowest versions of all dependencies (PYTHON=python3.11)"
	@echo "make test-newest  run all tests with the newest versions, in a new environment"
	@echo "make audit      known vulnerabilities and licences of all dependencies (needs pypi.org)"
	@echo "make coverage   run it with coverage of lines and branches, kernels included: at least 95 %"
	@echo "make mutants    change operators, numbers and statements at random: do tests notice? (an hour)"
	@echo "make faults     500 signals at random moments of commands: is anything lost? (an hour)"
	@echo "make nightly    all long tests of what docs/trust.md promises (hours)"
	@echo "make docs       build the documentation site: site/index.html"
	@echo "make docs-check  open the built site in Chromium: search, dark mode, width on desktops and phones"
	@echo "make docs-links  does every link to another site still work? (needs a network)"
	@echo "make release-check  build the wheel, install it with each extra, run the demo from it, build the docs"
	@echo "make check      lint, format check and types"
	@echo "make format     format the code"
	@echo "make reproduce  all experiments of the paper, into docs/reproduction (needs both data sets)"
	@echo "make fuzz       damage files of every format and run commands on them, for SECONDS=60"
	@echo "make bench-quality  costs, classes and numbers of clusters found, beside targets and peers (needs both data sets)"
	@echo "make bench      speed and memory, as ratios to yardsticks (needs 20 Newsgroups)"
	@echo "make bench-scale  threads, memory and data on disk, up to 1e8 non-zeros (half an hour, 10 GB, 20 Newsgroups)"

$(READY): pyproject.toml src/comarkov/__init__.py
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[cli]'
	touch $@

.venv/.ready-%: $(READY)
	$(BIN)/pip install --quiet --editable $(ALL) --group $*
	touch $@

demo: $(READY)
	$(BIN)/comarkov fit southern-women -k 2 -l 3 --seed 0 --force -o demo/southern-women

PYTEST = $(BIN)/pytest
test: $(DEV)
	$(PYTEST) $(PARALLEL)

test-fast: $(DEV)
	$(PYTEST) $(PARALLEL) --hypothesis-profile=quick -m core $(addprefix tests/,kernels joint costs search model estimators)

test-lowest test-newest: test-%:
	$(PYTHON) -m venv --clear .venv-$*
	.venv-$*/bin/pip install --quiet --upgrade pip
	.venv-$*/bin/pip install --quiet $(if $(filter lowest,$*),--constraint tests/lowest-versions.txt) --editable $(ALL) --group test
	.venv-$*/bin/pytest $(if $(filter lowest,$*),$(OLD)) $(PARALLEL) $(TESTS)

# The tests, and again those of kernels that are fast enough without compiling them. Ctrl-C at any moment may
# come while coverage holds its lock, which it would keep for ever.
COVERED = $(BIN)/coverage run -m pytest \
	--deselect=tests/io/test_files.py::test_ctrl_c_at_any_moment_leaves_a_folder_whole_or_absent \
	--deselect=tests/io/test_files.py::test_ctrl_c_at_any_moment_leaves_a_file_old_or_new
coverage: $(DEV)
	rm -f .coverage .coverage.*
	$(MAKE) test PYTEST="$(COVERED)"
	NUMBA_DISABLE_JIT=1 $(COVERED) -W ignore::RuntimeWarning $(PARALLEL) --hypothesis-profile=quick -m uncompiled tests/kernels tests/search
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	@echo "$$($(BIN)/coverage report --format=total --precision=1) % of lines and branches"

mutants: $(DEV)
	$(BIN)/python dev/mutate.py

faults: $(DEV)
	$(BIN)/python dev/faults.py

nightly: $(DEV)
	$(BIN)/python dev/nightly.py

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Pages with code are computed once, and again if their code or the package changes: docs/_generated.
SPHINX = $(BIN)/python -m sphinx -W --keep-going -d .docs-cache/doctrees

docs: $(DOCS)
	$(SPHINX) -b html docs site

docs-check: $(DEV)
	$(BIN)/pytest -m site tests/docs

docs-links: $(DOCS)
	$(SPHINX) -b linkcheck docs site-links

# Build, check and install what a release would be. Tags such as v0.2.0 are released by a workflow.
release-check: docs .venv/.ready-release
	$(BIN)/python dev/release_check.py

# A package that cannot be looked up is an error, too.
audit: $(DEV)
	$(BIN)/pip freeze --exclude-editable > .venv/versions.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement .venv/versions.txt
	$(BIN)/python dev/licences.py --check

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(BENCH)
	$(BIN)/python benchmarks/run.py

bench-quality: $(BENCH)
	$(BIN)/python benchmarks/exact.py; missed=$$?; \
	$(BIN)/python benchmarks/quality.py || missed=1; \
	$(BIN)/python benchmarks/networks.py || missed=1; \
	$(BIN)/python benchmarks/confidence.py || missed=1; \
	$(BIN)/python benchmarks/settings.py || missed=1; \
	$(BIN)/python benchmarks/choices.py || missed=1; \
	$(BIN)/python benchmarks/short_texts.py || missed=1; \
	$(BIN)/python benchmarks/choose_numbers.py && exit $$missed

bench-scale: $(BENCH)
	$(BIN)/python benchmarks/scale.py

SECONDS = 60
fuzz: $(DEV)
	$(BIN)/python dev/fuzz.py --seconds $(SECONDS)

reproduce: $(READY)
	$(BIN)/comarkov reproduce all --out reproduction
	mkdir -p docs/reproduction
	cp reproduction/reproduction.md reproduction/*.png docs/reproduction/

clean:
	rm -rf .venv .venv-lowest .venv-newest demo site site-links jupyter_execute .docs-cache docs/_generated .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* dist
