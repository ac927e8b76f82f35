# Every target makes the environment it needs; a second run starts at once.
#
#   PYTHON=python3.12   the interpreter (default: the first of 3.13, 3.12, 3.11 that works)
#   VENV=.venv          where the environment lives
#   ARGS='...'          more arguments for the tool behind the target
#   WORKERS=5           processes that run tests side by side

SHELL := /bin/sh
PYTHON ?=
VENV ?= .venv
ARGS ?=
UPGRADE ?=

BIN := $(VENV)/bin
# One stamp for each set and each interpreter named, so that naming another one is noticed.
TAG := $(if $(PYTHON),-$(subst /,_,$(PYTHON)))
DEMO := $(VENV)/.ready-demo$(TAG)
DEV := $(VENV)/.ready-dev$(TAG)
FRAME := pyproject.toml testkit/pyproject.toml tools/venv requirements/build.txt requirements/demo.txt
# Five workers for two cores: half of the tests wait, for servers and processes of their own. A worker
# that has nothing left takes tests from another one.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
WORKERS ?= $(shell n=$$(( $(CORES) * 5 / 2 )); [ $$n -le 16 ] || n=$$(( $(CORES) > 16 ? $(CORES) : 16 )); echo $$n)
PARALLEL := --numprocesses $(WORKERS) --dist worksteal

# Without byte code each of the suite's hundreds of child processes compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo demo-search demo-evals test test-all eval-sdks adapters signatures wheel encoder-wheel encoder audit sbom test-installed test-wheel deploy-check hosts pages clients lines lint types bench quality conformance soak fuzz docs docs-check site pictures format coverage lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO) ## Rank, abstain, explain and inject on the skills that ship in examples/
	@$(BIN)/python examples/demo.py $(ARGS)

demo-search: $(DEV) ## Search, add, a rate-limited source, and an answer without a network
	@$(BIN)/python examples/demo_search.py

demo-evals: $(DEV) ## Evaluate the example skills against a fake model server, and write runs/report.html
	@$(BIN)/python examples/demo_evals.py $(or $(ARGS),runs/report.html)

test: $(DEV) ## Run the tests, in minutes (ARGS='tests/parity -k overlap' for a part)
	@$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

eval-sdks: ## Test with the lowest versions of the models' libraries (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-eval-lowest eval-lowest
	@.venv-eval-lowest/bin/python -m pytest --all tests/evals/models tests/evals/judgement/test_raw_clients.py \
		$(ARGS)

adapters: ## Test with the real agent frameworks, inspect_ai and OpenTelemetry (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-adapters adapters
	@SKILLYARD_ADAPTERS=1 .venv-adapters/bin/python -m pytest --all tests/hosts/adapters tests/hosts/decisions/test_recorder.py tests/evals/agent \
		--ignore tests/hosts/adapters/test_agent_skills.py $(ARGS)

signatures: ## Test with sigstore, which verifies signatures (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-signatures signatures
	@SKILLYARD_SIGNATURES=1 .venv-signatures/bin/python -m pytest --all tests/install/signatures $(ARGS)

wheel: ## Build the packages of skillyard and skillyard-testkit into dist/, and check them and the workflows
	@PYTHON='$(PYTHON)' tools/venv .venv-package package
	@.venv-package/bin/python tools/package.py
	@.venv-package/bin/python tools/workflows/check.py

encoder-wheel: ## Build the package skillyard-encoder into dist/, and check it
	@PYTHON='$(PYTHON)' tools/venv .venv-package package
	@.venv-package/bin/python tools/package.py --encoder

encoder: wheel encoder-wheel ## Test hybrid+encoder on the installed wheels (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-encoder encoder
	@SKILLYARD_ENCODER=1 SKILLYARD_EXPECT_INSTALLED=1 .venv-encoder/bin/python -m pytest --all tests/encoder tests/engine/ranking/test_hybrid_embedder.py \
		$(ARGS)

audit: ## Ask PyPI and OSV whether a pinned package has a known vulnerability (needs a network)
	@PYTHON='$(PYTHON)' tools/venv .venv-audit audit
	@.venv-audit/bin/python tools/audit.py $(ARGS)

sbom: ## Write dist/skillyard.cdx.json: every package of the image, as CycloneDX
	@PYTHON='$(PYTHON)' tools/venv .venv-audit audit
	@.venv-audit/bin/python tools/audit.py --sbom dist/skillyard.cdx.json

test-installed: $(DEV) wheel ## Install the wheels in empty environments and drive every command and service there
	@SKILLYARD_DIST=dist $(BIN)/python -m pytest --all tests/installed $(ARGS)

test-wheel: wheel ## Run the test suite on the installed wheel instead of src (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-wheel wheel
	@SKILLYARD_EXPECT_INSTALLED=1 .venv-wheel/bin/python -m pytest $(PARALLEL) $(ARGS)

test-all: ## Run all tests, the long ones too, on the installed wheel
	@$(MAKE) --no-print-directory test-wheel ARGS='--all $(ARGS)'

deploy-check: ## Read the files of deploy/ with their linters (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-deploy deploy
	@SKILLYARD_DEPLOY=1 .venv-deploy/bin/python -m pytest --all tests/deploy/test_linters.py \
		tests/deploy/test_image.py $(ARGS)

hosts: $(DEV) ## Test inside the real Claude Code and Codex, with a scripted model (needs node 20 and npm)
	@$(BIN)/python tools/hosts/run.py $(ARGS)

pages: $(DEV) ## Hold every page and report to axe-core in Chromium, and leave screenshots (needs npm and chromium)
	@$(BIN)/python tools/pages/run.py $(ARGS)

clients: ## Test with Skyll's, FastMCP's and the SDK's clients, MCP Inspector, npx skills (needs npm)
	@PYTHON='$(PYTHON)' tools/venv .venv-clients clients
	@.venv-clients/bin/python tools/clients/run.py $(ARGS)

lines: ## Print the number of lines of each wing
	@for wing in src/skillyard/*/__init__.py; do printf '%7d %s\n' \
		"$$(find "$${wing%/*}" -name '*.py' -exec cat {} + | wc -l)" "$${wing%/*}"; done
	@printf '%7d in all\n' "$$(find src/skillyard -name '*.py' -exec cat {} + | wc -l)"

lint: $(DEV) ## Check style, formatting, and which module imports which
	@$(BIN)/python -m ruff check . $(ARGS)
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/lint-imports --no-logo --no-cache pyproject.toml

types: $(DEV) ## Check types, strictly, and those of the package for Windows too
	@$(BIN)/python -m mypy $(ARGS)
	@$(BIN)/python -m mypy --platform win32 --cache-dir .mypy_cache/windows src testkit/src

bench: $(DEMO) ## Print the benchmarks' ratios
	@$(BIN)/python -m benchmarks $(ARGS)

quality: $(DEMO) ## Rank the pool again, and fail when hybrid ranks worse than the stored run
	@$(BIN)/python -m benchmarks.regression $(ARGS)

conformance: $(DEV) ## Run the protocol's own scenarios against the MCP server (needs node 20 and npm)
	@$(BIN)/python tools/conformance/run.py

soak: $(DEV) ## The long runs: thousands of mutations, fifty kills, many histories, a fuzzed service
	@SKILLYARD_SOAK=1 $(BIN)/python -m pytest --all -o faulthandler_timeout=1200 \
		tests/cli/installation tests/engine/index tests/evals tests/store \
		tests/hosts/hook tests/hostile tests/property $(ARGS)
	@$(MAKE) --no-print-directory fuzz

fuzz: ## Feed random input to reader, archives, MCP, hook and HTTP (ARGS='--seconds 60 --only mcp')
	@PYTHON='$(PYTHON)' tools/venv .venv-fuzz fuzz
	@.venv-fuzz/bin/python tools/fuzz/run.py $(ARGS)

docs: $(DEV) ## Rewrite the generated pages of docs/reference
	@$(BIN)/python tools/reference.py

docs-check: $(DEV) ## Run the examples in the documentation
	@$(BIN)/python -m pytest --all tests/docs $(ARGS)

site: ## Build the documentation site into build/site and check its links (an environment of its own)
	@PYTHON='$(PYTHON)' tools/venv .venv-site site
	@.venv-site/bin/python tools/site/build.py $(ARGS)

pictures: $(DEV) ## Make the pictures of the documentation again from real runs (needs chromium)
	@$(BIN)/python tools/pictures/make.py

format: $(DEV) ## Format the code and apply the safe fixes
	@$(BIN)/python -m ruff check --fix --exit-zero --quiet .
	@$(BIN)/python -m ruff format .

coverage: $(DEV) ## Run the tests and print which branches they miss
	@$(BIN)/python -m coverage run -m pytest $(ARGS)
	@$(BIN)/python -m coverage report

# The resolver writes every hash of every file of a release, for all platforms and for Python 3.11
# and up, and no index address. Existing pins stay unless UPGRADE=1.
UV = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade)

lock: ## Recompute the pinned requirement files (UPGRADE=1 for the newest releases)
	@PYTHON='$(PYTHON)' tools/venv .venv-lock lock
	$(UV) requirements/lock.in --output-file requirements/lock.txt
	$(UV) requirements/build.in --output-file requirements/build.txt
	$(UV) pyproject.toml --extra cli --output-file requirements/demo.txt
	$(UV) pyproject.toml --extra cli --group dev --constraint requirements/demo.txt \
		--output-file requirements/dev.txt
	$(UV) pyproject.toml --extra serve --extra remote --group clients --constraint requirements/dev.txt \
		--output-file requirements/clients.txt
	$(UV) pyproject.toml --extra cli --group dev --group fuzz --constraint requirements/dev.txt \
		--output-file requirements/fuzz.txt
	$(UV) pyproject.toml --extra cli --extra fast --group dev --group encoder --constraint requirements/dev.txt \
		--output-file requirements/encoder.txt
	$(UV) --group package --output-file requirements/package.txt
	$(UV) --group audit --output-file requirements/audit.txt
	$(UV) pyproject.toml --extra sigstore --group signatures --constraint requirements/dev.txt \
		--output-file requirements/signatures.txt
	$(UV) pyproject.toml --group adapters \
		--output-file requirements/adapters.txt
	$(UV) pyproject.toml --extra cli --extra serve --extra remote --extra fast \
		--extra postgres --constraint requirements/dev.txt \
		--output-file requirements/container.txt
	$(UV) --group site --output-file requirements/site.txt
	$(UV) --group deploy --output-file requirements/deploy.txt
	$(UV) pyproject.toml --group eval-lowest \
		--output-file requirements/eval-lowest.txt

clean: ## Remove the environments and everything built or cached
	@for folder in '$(VENV)' .venv-*; do \
		if [ -f "$$folder/pyvenv.cfg" ]; then rm -rf "$$folder"; fi; \
	done
	@rm -rf build dist htmlcov .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@rm -rf src/*.egg-info testkit/src/*.egg-info testkit/build encoder/src/*.egg-info encoder/build
	@find src testkit encoder tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(DEMO): $(FRAME)
	@PYTHON='$(PYTHON)' tools/venv '$(VENV)' demo
	@touch '$@'

# What the tests need includes what the demo needs.
$(DEV): $(FRAME) requirements/dev.txt
	@PYTHON='$(PYTHON)' tools/venv '$(VENV)' dev
	@touch '$(DEMO)' '$@'
