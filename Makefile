# Everything a checkout can do by itself. Each target sets up what it needs, once; nothing needs an active environment.
#
#   make run  PORT=9000            another port (else the first free one from 8501 on)
#   make run  PYTHON=/path/to/it   another Python for .venv
#   make test ARGS="-k merge"      some of the tests
#   make test ARGS="-n0 -x"        in one process, until the first that fails
#   make mutate ARGS="--sample 80" so many mutants of the code, drawn from all rooms
#   make lock UPGRADE=--upgrade    newer versions of everything

SHELL := /bin/sh
.DEFAULT_GOAL := help
# The last of them would have every process of the tests compile them anew.
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE

VENV := PYTHON="$(PYTHON)" .ci/venv
BIN := .venv/bin
# Many tests wait for a program that they started, so one process more than there are cores.
WORKERS := $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1 ))
PORT ?= $$($(BIN)/python -c 'import socket; print(next(p for p in range(8501, 8700) if socket.socket().connect_ex(("127.0.0.1", p))))')
# In the order of their names, in which those in a browser, which take longest, are among the first.
TESTS = $(VENV) requirements.txt tests/requirements-dev.txt && $(BIN)/python -m tests.programs && \
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --maxprocesses 4 --no-loadscope-reorder
COMPILE := $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(UPGRADE)

.PHONY: help run test test-all next mutate picture icons docs bench lint welcome lock clean

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## /make \1	/p' Makefile

run: ## Start Forky and print its address
	@$(VENV) requirements.txt
	@port=$(PORT); exec $(BIN)/python -m streamlit run app.py --server.address 127.0.0.1 --server.port $$port \
		--server.showEmailPrompt false

test: ## Run the tests that each change waits for: unit, property, store laws, pages, main ways in a browser
	@$(TESTS) -m "not long" $(ARGS)

test-all: ## Run every test: also long fuzzers, killed programs and every story in a browser
	@$(TESTS) $(ARGS)

next: ## Try the pages on the newest Streamlit; reports, and never fails
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@.ci/next $(ARGS)

picture: ## Take the picture of the README anew
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@$(BIN)/python -m tests.programs
	@$(BIN)/python -m pytest -q tests/browser/test_picture.py
	@mkdir -p docs/images && cp build/chat.png docs/images/chat.png && echo docs/images/chat.png

icons: ## Make the font of the icons that the pages name anew
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@$(BIN)/uv run --no-project --with fonttools --with brotli python bench/icon_font.py \
		$$($(BIN)/python -c 'import streamlit; print(streamlit.__path__[0])')/static/static

docs: ## Build the documentation as one site into build/site
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --config-file docs/site/mkdocs.yml && echo build/site/index.html

bench: ## Print the numbers, each beside its peer's
	@$(VENV) requirements.txt tests/requirements-dev.txt bench/requirements-bench.txt
	@$(BIN)/python -m tests.programs
	@$(BIN)/python -m bench $(ARGS)

mutate: ## Change the code in one place at a time and name the changes that no test notices
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@cmp -s tests/mutation/requirements-mutate.txt build/cosmic-ray/installed.txt || { rm -rf build/cosmic-ray && \
		$(BIN)/python -m pip install -qq --require-hashes --no-deps --target build/cosmic-ray \
		-r tests/mutation/requirements-mutate.txt && \
		cp tests/mutation/requirements-mutate.txt build/cosmic-ray/installed.txt; }
	@PYTHONPATH=build/cosmic-ray $(BIN)/python -m tests.mutation $(ARGS)

lint: ## Linter, formatter, strict types
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@status=0; for check in "ruff check" "ruff format --check" "mypy"; do \
		echo "$$check"; $(BIN)/python -m $$check || status=1; done; exit $$status

welcome: ## Run the experiment of the ready conversation anew and keep its answers
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@$(BIN)/python -m tests.welcome_run

lock: ## Compile pyproject.toml into the hash-locked files
	@$(VENV) requirements.txt tests/requirements-dev.txt
	@$(COMPILE) pyproject.toml -o requirements.txt
	@# The peers that are measured are the pickier ones, and are installed beside what develops.
	@$(COMPILE) --group bench -c requirements.txt -o bench/requirements-bench.txt
	@$(COMPILE) --group dev -c requirements.txt -c bench/requirements-bench.txt -o tests/requirements-dev.txt
	@$(COMPILE) --group node -c requirements.txt -o tests/aimock/requirements-node.txt
	@$(COMPILE) --group mutate -c requirements.txt -c bench/requirements-bench.txt -c tests/requirements-dev.txt \
		-o tests/mutation/requirements-mutate.txt

clean: ## Remove the environment, caches and what was built (never a database)
	@rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
