# SPDX-License-Identifier: BSD-3-Clause
#
# A thin front of Meson.
#   make demo                  install what is missing, build what is needed, run the heat solver on 4 processes
#   make check                 install what is missing, build, run all tests
#   make install PREFIX=/path  build what is installed, install (DESTDIR is honoured)
#   make check-asan            unit tests and a part of the chapter tests, address and undefined sanitizers
#   make check-tsan            the same with the thread sanitizer
#   make check-few             what counts in int is cut at 7: the ways of large counts with small ones
#   make bench                 compare with other MPI libraries (installs them)
#   make build, make clean     build everything, tests too; remove what was built

BUILD ?= build
PREFIX ?= /usr/local
SANITIZE = --buildtype=debugoptimized --optimization=1 -Dc_args=-g1 -Db_lto=false

.PHONY: all build demo check check-asan check-ubsan check-tsan check-few bench install clean

all: build

build:
	@scripts/install-deps build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD)
	@ninja -C $(BUILD)

demo:
	@scripts/install-deps build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD)
	@ninja -C $(BUILD) launch/mpiexec examples/heat
	$(BUILD)/launch/mpiexec -n 4 $(BUILD)/examples/heat --out $(BUILD)/heat.png

check:
	@scripts/install-deps check
	@$(MAKE) --no-print-directory build
	@scripts/run-tests $(BUILD)

# Sanitizer builds have only what `run-tests --some` runs. One has both sanitizers, so the two names are one thing.
check-asan check-ubsan:
	@scripts/install-deps check
	@test -f $(BUILD)-asan/build.ninja || meson setup $(BUILD)-asan $(SANITIZE) -Db_sanitize=address,undefined
	@ninja -C $(BUILD)-asan $$(scripts/targets $(BUILD)-asan --some)
	@scripts/run-tests $(BUILD)-asan --some

check-tsan:
	@scripts/install-deps check
	@test -f $(BUILD)-tsan/build.ninja || meson setup $(BUILD)-tsan $(SANITIZE) -Db_sanitize=thread
	@ninja -C $(BUILD)-tsan $$(scripts/targets $(BUILD)-tsan --some)
	@scripts/run-tests $(BUILD)-tsan --some

# Builds what `run-tests --few` runs and nothing else.
check-few:
	@scripts/install-deps check
	@test -f $(BUILD)-few/build.ninja || meson setup $(BUILD)-few -Db_lto=false -Dcount_limit=7
	@ninja -C $(BUILD)-few launch/mpiexec \
	    $$(scripts/targets $(BUILD)-few src tests/coll tests/part tests/types)
	@scripts/run-tests $(BUILD)-few --few

bench:
	@scripts/install-deps bench
	@$(MAKE) --no-print-directory build
	scripts/bench $(BUILD)

install:
	@scripts/install-deps build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD)
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) $$(scripts/targets $(BUILD) --installed)
	@meson install -C $(BUILD) --no-rebuild --quiet

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-few
