# SPDX-License-Identifier: Apache-2.0
# A thin front of CMake and tools/.
.SILENT:
.POSIX:

BUILD = build
# Further arguments of cmake, for instance CMAKE_ARGS=-DCMAKE_BUILD_TYPE=Debug.
CMAKE_ARGS =
CTEST = cd $(BUILD) && HBM_SHARED=$${HBM_SHARED:-$(CURDIR)/../shared} ctest \
	--output-on-failure -j 2

help:
	echo 'make build          build/hbmplan'
	echo 'make run            plan examples/transformer.hbm'
	echo 'make test           all tests'
	echo 'make check          layers, files, documents, quick tests'
	echo 'make ci             what .ci/run does'
	echo 'make asan ubsan     quick tests under a sanitizer'
	echo 'make clang          build and quick tests with clang'
	echo 'make fuzz           SECONDS_EACH=60 on every fuzz target'
	echo 'make bench          measurements'
	echo 'make golden-update  expected outputs anew'
	echo 'make format-check   clang-format'
	echo 'make install        PREFIX=/usr/local'
	echo 'make clean'

build:
	tools/bootstrap build
	tools/build $(BUILD) $(CMAKE_ARGS)

run: build
	$(BUILD)/hbmplan plan examples/transformer.hbm

test:
	tools/bootstrap build test
	tools/build $(BUILD) $(CMAKE_ARGS)
	$(CTEST) -LE bench

check:
	tools/bootstrap build test
	tools/check_layers
	tools/check_files
	tools/check_docs
	tools/build $(BUILD) $(CMAKE_ARGS)
	$(CTEST) -LE 'slow|bench'

ci:
	.ci/run

asan:
	$(MAKE) BUILD=build-asan CMAKE_ARGS=-DHBM_SANITIZE=address check

ubsan:
	$(MAKE) BUILD=build-ubsan CMAKE_ARGS=-DHBM_SANITIZE=undefined check

clang:
	$(MAKE) BUILD=build-clang CMAKE_ARGS=-DCMAKE_C_COMPILER=clang check

SECONDS_EACH = 60
fuzz:
	tools/bootstrap build ci
	tools/build build-fuzz -DCMAKE_C_COMPILER=clang -DHBM_FUZZ=ON
	tools/fuzz build-fuzz $(SECONDS_EACH)

bench:
	tools/bootstrap build test
	tools/build $(BUILD) $(CMAKE_ARGS)
	cmake --build $(BUILD) --target bench
	for program in $(BUILD)/bench/bench_*; do \
		echo "== $$program"; $$program || exit; \
	done

golden-update:
	tools/bootstrap build test
	tools/build $(BUILD) $(CMAKE_ARGS)
	HBM_GOLDEN_UPDATE=1; export HBM_GOLDEN_UPDATE; $(CTEST) -L golden

format-check:
	clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')

PREFIX = /usr/local
install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-*

.PHONY: help build run test check ci asan ubsan clang fuzz bench golden-update \
	format-check install clean
