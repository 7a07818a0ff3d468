# Everything runs in .venv, which is made when it is missing and renewed when pyproject.toml changes:
# with what the command line needs at first, and with further extras where a target needs them.
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/.ready
DEV = .venv/.ready-dev
BENCH = .venv/.ready-bench

.PHONY: help demo test check format bench bench-quality bench-scale reproduce clean

help:
	@echo "make demo       co-cluster a bundled data set, from the command to the report"
	@echo "make test       run the whole test suite"
	@echo "make check      lint, format check and types"
	@echo "make format     format the code"
	@echo "make reproduce  the paper's experiments that need no download, into docs/reproduction"
	@echo "make bench-quality  costs, classes and numbers of clusters found, beside targets and peers (needs both data sets)"
	@echo "make bench      speed and memory, as ratios to yardsticks (needs 20 Newsgroups)"
	@echo "make bench-scale  threads, memory and data on disk, up to 1e8 non-zeros (half an hour, 10 GB, 20 Newsgroups)"

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[cli]'
	touch $@

$(BENCH): $(DEV)

.venv/.ready-%: $(READY)
	$(BIN)/pip install --quiet --editable '.[$*]'
	touch $@

demo: $(READY)
	$(BIN)/comarkov fit southern-women -k 2 -l 3 --seed 0 --force -o demo/southern-women

test: $(DEV)
	$(BIN)/pytest --numprocesses auto --dist worksteal

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(BENCH)
	$(BIN)/python benchmarks/run.py

bench-quality: $(BENCH)
	$(BIN)/python benchmarks/exact.py; missed=$$?; \
	$(BIN)/python benchmarks/quality.py || missed=1; \
	$(BIN)/python benchmarks/confidence.py || missed=1; \
	$(BIN)/python benchmarks/choose_numbers.py && exit $$missed

bench-scale: $(BENCH)
	$(BIN)/python benchmarks/scale.py

reproduce: $(READY)
	$(BIN)/comarkov reproduce --out reproduction
	mkdir -p docs/reproduction
	cp reproduction/reproduction.md reproduction/*.png docs/reproduction/

clean:
	rm -rf .venv demo .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
