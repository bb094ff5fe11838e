# `make demo` and `make test` are all a newcomer needs; both install what is missing.
.DEFAULT_GOAL := help
.PHONY: help demo test test-asan test-asan-fast test-embedded embedded-table explorer test-explorer test-long test-dask fuzz bench bench-dask bench-generated bench-grid bench-images bench-networks bench-all chart wheel test-wheel format lint lint-all lint-fast clean
FUZZ_SECONDS ?= 1800
# `make test` has 20,000; an emulator takes about twenty times as long for each.
AARCH64_PROBLEMS ?= 1000
AARCH64 = QEMU_CPU=cortex-a72 QEMU_LD_PREFIX=/usr/aarch64-linux-gnu qemu-aarch64
# Steps done of all, and the time since the start, before each step of a build.
empty :=
export NINJA_STATUS = [%f/%t, %e s]$(empty) $(empty)
# What the chart shows, if it was measured.
CHARTED = generated-peers images networks peers generated
# What the explorer is made of.
EXPLORER_SOURCES = $(wildcard web/explorer/*.* web/explorer/page/*.* include/ndpool/*.h include/ndpool/*.hpp include/ndpool/spec/*.hpp) \
                   src/drawn_axis.hpp src/sentences.cpp src/sentences.hpp

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

demo: build/release/build.ninja  ## Set up, build, and make a page with every operator on one picture, and your machine's speed
	@echo "Building the command and the library that it needs; the kernels take most of the time. Each line says how far it is."
	@cmake --build --preset release --target ndpool_command
	@echo "Pooling a picture with every operator, then measuring this machine"
	@build/release/bin/ndpool demo --out demo $(if $(wildcard build/web/explorer.html),--link 'Explore windows'=../build/web/explorer.html) \
	    $(if $(wildcard build/docs/html/index.html),--link Documentation=../build/docs/html/index.html)

test: build/release/python.stamp  ## Set up, build, and run the tests
	cmake --build --preset release
	ctest --preset release
	PYTHONPATH=build/release/python build/venv/bin/python -m pytest -q -n 2

test-asan: build/asan/build.ninja build/release/python.stamp  ## The same tests under the address and undefined-behaviour sanitizers
	cmake --build --preset asan
	ctest --preset asan
	NDPOOL_COMMAND=build/asan/bin/ndpool build/venv/bin/python -m pytest -q tests/cli/test_command_hostile.py -k "wrong or damage"

test-asan-fast: build/asan/build.ninja build/venv/bin/ruff  ## The tests that matter for memory safety, under the same sanitizers
	cmake --build --preset asan --target memory_tests ndpool_command
	ctest --preset asan -L memory
	NDPOOL_COMMAND=build/asan/bin/ndpool build/venv/bin/python -m pytest -q tests/cli/test_command_hostile.py -k "wrong or damage"

test-embedded:  ## The tiny layers and the firmware example on an emulated Cortex-M4, bit for bit as on the host
	@scripts/setup.sh embedded
	python3 embedded/test.py

embedded-table:  ## Code size, memory and instructions of the tiny layers beside plain loops
	@scripts/setup.sh embedded
	@python3 embedded/table.py

explorer: build/web/explorer.html  ## Build the explorer: one HTML file with the library in it, compiled to WebAssembly

test-explorer: build/web/explorer.html build/release/python.stamp  ## The explorer in a browser, beside the library
	@scripts/venv.sh python/requirements-explorer.txt
	cmake --build --preset release --target ndpool_command python_package
	PYTHONPATH=build/release/python build/venv/bin/python -m pytest -q -n 2 web/tests

test-dask: build/release/python.stamp  ## Lazy pools on 2,000 generated problems, and on a cluster with little memory and killed workers
	cmake --build --preset release --target python_package
	NDPOOL_DASK_PROBLEMS=2000 NDPOOL_DASK_CLUSTER=1 PYTHONPATH=build/release/python build/venv/bin/python -m pytest -q -s \
	    python/tests/test_dask_generated.py python/tests/test_dask_graphs.py python/tests/test_dask_cluster.py

# Two programs share the scalars; both print how far they are.
test-long: build/release/build.ninja  ## A million generated problems, kernels against the reference, for about twenty minutes
	cmake --build --preset release --target kernels_generated_test
	export NDPOOL_PROBLEMS=1000000 GTEST_TOTAL_SHARDS=2; \
	GTEST_SHARD_INDEX=0 build/release/tests/kernels_generated_test --gtest_filter='*EqualTheSpec' & first=$$!; \
	GTEST_SHARD_INDEX=1 build/release/tests/kernels_generated_test --gtest_filter='*EqualTheSpec'; second=$$?; \
	wait $$first && [ $$second = 0 ]

fuzz: build/fuzz/build.ninja  ## Look for problems on which kernels and reference disagree, for FUZZ_SECONDS
	cmake --build --preset fuzz --target fuzz_pool
	@mkdir -p build/fuzz/found
	cmake --build --preset fuzz --target fuzz_npy
	@mkdir -p build/fuzz/found-npy
	build/fuzz/tests/fuzz_npy -max_total_time=60 -max_len=300 -artifact_prefix=build/fuzz/ build/fuzz/found-npy
	build/fuzz/tests/fuzz_pool -max_total_time=$(FUZZ_SECONDS) -max_len=64 -artifact_prefix=build/fuzz/ \
	    build/fuzz/found tests/fuzz/corpus

bench: build/bench/build.ninja build/release/python.stamp  ## Measure the kernels against the streaming limit, the reference and other libraries
	cmake --build --preset bench
	build/bench/bench/kernels_bench --json build/bench/bench.json --svg build/bench/bench.svg
	build/bench/bench/generated_bench --json build/bench/generated.json
	build/bench/bench/spec_bench
	@scripts/venv.sh python/requirements-bench.txt
	cmake --build --preset release --target python_package
	PYTHONPATH=build/release/python build/venv/bin/python bench/peers.py \
	    --json build/bench/peers.json --svg build/bench/peers.svg
	PYTHONPATH=build/release/python build/venv/bin/python bench/peers.py --generated 300 \
	    --json build/bench/generated-peers.json
	build/venv/bin/python bench/graph_epoch.py build/bench/examples/digits
	@echo "The numbers are in build/bench/bench.json, generated.json, peers.json and generated-peers.json, the charts in bench.svg and peers.svg beside them"

bench-generated: build/bench/build.ninja  ## Measure random problems against their limits, for about ten minutes
	cmake --build --preset bench --target generated_bench
	build/bench/bench/generated_bench --json build/bench/generated.json

chart:  ## Draw docs/speed.svg, the chart of the README, from the numbers that the benchmarks left in build/bench
	python3 bench/chart.py $(wildcard $(CHARTED:%=build/bench/%.json)) --out docs/speed.svg

bench-grid: build/bench/build.ninja  ## Measure max and average over a grid of scalars, windows and layouts
	cmake --build --preset bench --target grid_bench
	build/bench/bench/grid_bench --json build/bench/grid.json

bench-images: build/release/python.stamp  ## Measure random filters of pictures and volumes beside OpenCV, scipy and others
	@scripts/venv.sh python/requirements-bench.txt
	cmake --build --preset release --target python_package
	@mkdir -p build/bench
	PYTHONPATH=build/release/python build/venv/bin/python bench/images.py --json build/bench/images.json

bench-dask: build/release/python.stamp  ## Measure lazy pools beside dask.array, map_overlap and xarray on a cluster of two processes
	@scripts/venv.sh python/requirements-dask.txt
	cmake --build --preset release --target python_package
	PYTHONPATH=build/release/python build/venv/bin/python bench/dask_scale.py
	PYTHONPATH=build/release/python build/venv/bin/python bench/dask_peers.py

bench-networks: build/release/python.stamp  ## Measure the pools of whole networks, torch's and ndpool's, for about half an hour
	@scripts/venv.sh python/requirements-bench.txt
	cmake --build --preset release --target python_package
	@mkdir -p build/bench
	PYTHONPATH=build/release/python build/venv/bin/python bench/networks.py \
	    --json build/bench/networks.json --svg build/bench/networks.svg

bench-all: build/release/python.stamp  ## Measure ndpool beside openvino and JAX too, in an environment of their own
	@VENV=build/venv-all scripts/venv.sh python/requirements-bench-all.txt
	cmake --build --preset release --target python_package
	@mkdir -p build/bench
	PYTHONPATH=build/release/python build/venv-all/bin/python bench/peers.py \
	    --json build/bench/peers-all.json --svg build/bench/peers-all.svg

# Handlers are built in the same tree with the headers of the oldest jaxlib; only what runs them needs JAX.
JAX_VENV = build/venv-jax
.PHONY: jax-package test-jax bench-jax
jax-package: build/release/python.stamp
	@VENV=$(JAX_VENV) scripts/venv.sh python/requirements-jax.txt
	@scripts/jaxlib_headers.sh $(JAX_VENV)/bin/python
	cmake --preset release -DNDPOOL_JAXLIB_HEADERS=$(CURDIR)/build/jaxlib-headers/jaxlib/include
	cmake --build --preset release --target python_package

# Where the import fails tests would be skipped.
test-jax: jax-package  ## Test ndpool.jax, in an environment with JAX
	PYTHONPATH=build/release/python $(JAX_VENV)/bin/python -c 'import ndpool.jax'
	PYTHONPATH=build/release/python $(JAX_VENV)/bin/python -m pytest -q -n 2 $(wildcard python/tests/test_jax_*.py)

bench-jax: jax-package  ## Measure ndpool.jax beside reduce_window
	@mkdir -p build/bench
	PYTHONPATH=build/release/python $(JAX_VENV)/bin/python bench/jax_peers.py --json build/bench/jax.json

wheel: build/venv/bin/ruff  ## Build wheels that bring their shared libraries, for each Python that is here, into build/wheel
	@scripts/setup.sh build && scripts/setup.sh wheel
	@scripts/venv.sh python/requirements-wheel.txt
	scripts/wheel.sh

test-wheel:  ## Try those wheels where there is only NumPy and no Highway, with the type checkers
	scripts/test_wheel.sh

# The packages of other package managers, and everything that takes long about them.
.PHONY: debs test-debs test-downstream test-packages test-aarch64
debs:  ## Build Debian packages, into build/debs, and check them with lintian
	@scripts/setup.sh build && scripts/setup.sh debs
	scripts/debs.sh

test-debs: debs  ## Try those packages in a bare Debian 12, as root
	scripts/test_debs.sh

test-downstream:  ## Programs outside of the tree: four ways to find ndpool, GCC and Clang, static and shared
	@scripts/setup.sh build && scripts/setup.sh fuzz
	@for compiler in g++ clang++; do \
	  cmake -DCOMPILER=$$(command -v $$compiler) -DSOURCE=$(CURDIR)/tests/downstream -DROOT=$(CURDIR) -DREADME=$(CURDIR)/README.md \
	      -DBUILD=$(CURDIR)/build/downstream/$$compiler -P tests/downstream/matrix.cmake || exit 1; \
	done

# Compiles the kernels six times: with each compiler, for the Debian packages, for the wheels, and twice to compare.
test-packages: test-downstream wheel test-wheel test-debs  ## All of these, the source distribution, and reproducible builds: about two hours
	scripts/test_sdist.sh quick
	scripts/test_reproducible.sh

test-aarch64:  ## Cross-compile for 64-bit ARM, and run kernel tests under an emulator
	@scripts/setup.sh build && scripts/setup.sh aarch64
	cmake --preset aarch64
	cmake --build --preset aarch64 --target kernels_generated_test kernels_implementations_test
	NDPOOL_PROBLEMS=$(AARCH64_PROBLEMS) $(AARCH64) build/aarch64/tests/kernels_generated_test
	$(AARCH64) build/aarch64/tests/kernels_implementations_test

# The site and what looks at it.
.PHONY: docs docs-serve test-site
docs: build/release/python.stamp build/web/explorer.html  ## Build the documentation site, into build/docs/html
	@scripts/setup.sh docs
	@scripts/venv.sh python/requirements-site.txt
	cmake --build --preset release --target python_package
	@mkdir -p build/doxygen
	doxygen docs/Doxyfile
	@sed -i '/<innerclass [^>]*prot="private"/d' build/doxygen/xml/*.xml  # Breathe shows them
	PYTHONPATH=build/release/python build/venv/bin/python docs/pictures.py build/docs/pictures
	PYTHONPATH=build/release/python build/venv/bin/sphinx-build -q -W -n -b html docs build/docs/html
	@echo "The site is build/docs/html/index.html"

docs-serve: docs  ## Show the documentation site on http://127.0.0.1:8000
	build/venv/bin/python -m http.server --bind 127.0.0.1 --directory build/docs/html 8000

test-site: docs  ## Run the guides that need other libraries, and look at the site and the demo page in a browser
	cmake --build --preset release --target ndpool_command
	PYTHONPATH=build/release/python build/venv/bin/python -m pytest -q tests/site

format: build/venv/bin/ruff  ## Format the sources in place
	@scripts/setup.sh lint
	scripts/format.sh

lint: build/venv/bin/ruff  ## Check the sources, changed C++ files by clang-tidy; changes nothing
	@scripts/setup.sh build && scripts/setup.sh lint
	@scripts/lint.sh

lint-all: build/venv/bin/ruff  ## Check the sources, every C++ file by clang-tidy
	@scripts/setup.sh build && scripts/setup.sh lint
	@scripts/lint.sh all

lint-fast: build/venv/bin/ruff  ## Check all but clang-tidy: seconds
	@scripts/setup.sh lint
	@scripts/lint.sh fast

clean:  ## Remove everything that was built
	rm -rf build

build/web/explorer.html: $(EXPLORER_SOURCES)
	@scripts/setup.sh explorer
	@python3 web/explorer/build.py $@

# The Python environment of all tests and checks.
build/venv/bin/ruff: python/requirements-test.txt
	@scripts/setup.sh python
	@scripts/venv.sh python/requirements-test.txt
	@touch $@

# The package is built in the same tree, so that the kernels are compiled once: while packages come over the network.
build/release/python.stamp: build/release/build.ninja python/requirements-test.txt
	@scripts/setup.sh python
	@scripts/venv.sh python/requirements-test.txt & packages=$$!; \
	cmake --build --preset release --target ndpool; built=$$?; \
	wait $$packages && [ $$built = 0 ]
	cmake --preset release -DNDPOOL_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python
	@touch $@

# Sets up only when there is something to set up: a configured tree proves that everything was found.
build/%/build.ninja: CMakeLists.txt CMakePresets.json scripts/setup.sh
	@scripts/setup.sh build
	@case $* in bench | fuzz) scripts/setup.sh $* ;; esac
	cmake --preset $* -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
	@touch $@
