# `make demo` and `make test` are all a newcomer needs; both install what is missing.
.DEFAULT_GOAL := help
.PHONY: help demo test test-asan bench lint clean

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: build/release/build.ninja  ## Set up, build, and pool a small array with every reducer
	@cmake --build --preset release --target quickstart
	@build/release/examples/quickstart

test: build/release/build.ninja  ## Set up, build, and run the tests
	cmake --build --preset release
	ctest --preset release

test-asan: build/asan/build.ninja  ## The same tests under the address and undefined-behaviour sanitizers
	cmake --build --preset asan
	ctest --preset asan

bench: build/bench/build.ninja  ## Measure the kernels against the streaming limit, and the spec
	cmake --build --preset bench
	build/bench/bench/kernels_bench --json build/bench/bench.json --svg build/bench/bench.svg
	build/bench/bench/spec_bench
	@echo "The numbers are in build/bench/bench.json, the chart in build/bench/bench.svg"

lint: build/release/build.ninja  ## Format the sources in place, then check them
	@scripts/setup.sh lint
	scripts/lint.sh

clean:  ## Remove everything that was built
	rm -rf build

# Sets up only when there is something to set up: a configured tree proves that everything was found.
build/%/build.ninja: CMakeLists.txt CMakePresets.json scripts/setup.sh
	@scripts/setup.sh build
	@if [ $* = bench ]; then scripts/setup.sh bench; fi
	cmake --preset $* -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
	@touch $@
