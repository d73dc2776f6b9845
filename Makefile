# vaenc: `make demo` shows what it does, `make test` tests it, `make install PREFIX=…` installs it.
# Every target installs the missing Debian packages that it needs (as root, or with sudo).

PREFIX ?= /usr/local
DESTDIR ?=
SHARED ?= ../shared
SWIFT ?= swift
SWIFTFLAGS ?= --explicit-target-dependency-import-check error
# Tests use internal declarations of modules. They are release builds, because the reference driver is about fifty times
# slower without optimization.
TESTABLE := -Xswiftc -enable-testing
TESTS := .build/release
# The products are built without -enable-testing in a separate folder, because the two builds share no object file.
PRODUCTS := --scratch-path .build/products
BUILD := .build/products/release

.PHONY: all build demo test test-dependent test-allocations test-clients test-devices faults soak bench install check-install uninstall fixtures format sanitize clean

all: build

.PHONY: packages-build packages-test packages-demo packages-clients
packages-build packages-test packages-demo packages-clients: packages-%:
	@scripts/install-packages.sh $*

# In the products, FoundationSubset replaces FoundationEssentials, also in swift-argument-parser, which does not know that
# module: it must be built first, and dependencies can only be checked in the builds of the tests.
SUBSET := -Xswiftc -module-alias -Xswiftc FoundationEssentials=FoundationSubset
# Without names in place of accessors, the program finds its generic types without searching the conformances of all its types.
ACCESSORS := -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
BUILD_PRODUCTS = $(SWIFT) build -c release $(SWIFTFLAGS) --explicit-target-dependency-import-check none $(PRODUCTS) $(SUBSET) $(ACCESSORS)

# Builds vaenc and the reference driver in one build. They share no module, so they compile in parallel.
build: packages-build
	VAENC_PRODUCTS=vaenc $(BUILD_PRODUCTS) --target FoundationSubset
	VAENC_PRODUCTS=vaenc $(BUILD_PRODUCTS)
	@scripts/check-exports.sh $(BUILD)/libvaenc_drv_video.so

# Builds the fault driver too.
.PHONY: build-all
build-all: packages-build
	VAENC_PRODUCTS=all $(BUILD_PRODUCTS) --target FoundationSubset
	VAENC_PRODUCTS=all $(BUILD_PRODUCTS)
	@scripts/check-exports.sh $(BUILD)/libvaenc_drv_video.so
	@scripts/check-exports.sh $(BUILD)/libvaenc_fault_drv_video.so

fixtures:
	@scripts/fetch-fixtures.sh

demo: packages-demo build fixtures
	@scripts/demo.sh $(BUILD)

# The tests during development: every module and feature, foreign decoders and clients. docs/TESTING.md describes each
# part.
test: test-build
	@scripts/run-tests.py $(TESTS)

.PHONY: test-build test-all test-matrix test-faults test-times
test-build: packages-test fixtures
	$(SWIFT) build -c release $(SWIFTFLAGS) $(TESTABLE) --build-tests
	@scripts/check-exports.sh $(TESTS)/libvaenc_drv_video.so
	@scripts/check-exports.sh $(TESTS)/libvaenc_fault_drv_video.so

# Each part that `make test` omits.
test-matrix test-faults test-times: test-%: test-build
	@scripts/run-tests.py $(TESTS) $*

# All parts except test-allocations and test-clients. They take more than an hour and need the tools in SHARED.
test-all: test test-matrix test-faults test-times test-codec-seam test-dependent test-devices test-drivers

# Checks that an unimplemented codec is a compiler error in every file that docs/ADDING-A-CODEC.md lists.
.PHONY: test-codec-seam
test-codec-seam: packages-build
	@scripts/check-codec-seam.py

# Makes a debug build of a package that depends on this one by URL and version, and runs every program of the pages.
test-dependent: packages-test
	@DRIVER=$(firstword $(wildcard $(TESTS)/libvaenc_drv_video.so $(BUILD)/libvaenc_drv_video.so)) scripts/test-dependent.sh

# Makes every allocation of FFmpeg's libraries fail in every command, one in each run. This takes more than an hour.
test-allocations: packages-test fixtures
	@VAENC_ALLOCATION_SWEEP=all $(SWIFT) test -c release $(SWIFTFLAGS) $(TESTABLE) --filter AllocationFailureTests

# Runs the programs of libva-utils on the reference driver. Fetches Debian's source package unless LIBVA_UTILS is a
# source tree.
test-clients: packages-clients build
	@scripts/test-clients.sh $(BUILD)

# Makes every VA call of an encode fail, hang or return corrupt data, and prints the table of results.
faults: packages-test fixtures
	@$(SWIFT) test -c release $(SWIFTFLAGS) $(TESTABLE) --filter FaultSweep

# Tests the real Intel and AMD drivers over faked kernels, and runs the tests with Debian 13's libraries. Needs root and
# the tools in SHARED. `test-drivers` runs the three parts of the script; each other target runs one of them.
.PHONY: test-drivers test-drivers-own test-drivers-debian13 test-debian13
test-drivers: packages-test
	@scripts/test-drivers.sh $(SHARED) drivers drivers-debian13 tests-debian13

test-drivers-own: packages-test
	@scripts/test-drivers.sh $(SHARED) drivers

test-drivers-debian13: packages-test
	@scripts/test-drivers.sh $(SHARED) drivers-debian13

test-debian13: packages-test
	@scripts/test-drivers.sh $(SHARED) tests-debian13

# Tests the kernel's test cameras and sound card in a virtual machine. Needs the tools in SHARED.
test-devices:
	@scripts/test-devices.sh $(SHARED)

# Encodes a million pictures with each codec, and 100,000 into each container, on a device that costs nothing. This
# takes half an hour.
soak: packages-test build
	@scripts/soak.py $(BUILD)/vaenc

bench: packages-test build-all fixtures
	@Benchmarks/run

# vaenc and the drivers contain the Swift runtime, so they run without a toolchain.
install: build-all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/vaenc
	install -m 755 -s $(BUILD)/vaenc $(DESTDIR)$(PREFIX)/bin/vaenc
	install -m 644 -s $(BUILD)/libvaenc_drv_video.so $(DESTDIR)$(PREFIX)/lib/vaenc/
	install -m 644 -s $(BUILD)/libvaenc_fault_drv_video.so $(DESTDIR)$(PREFIX)/lib/vaenc/

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/vaenc $(DESTDIR)$(PREFIX)/lib/vaenc/libvaenc_drv_video.so
	rm -f $(DESTDIR)$(PREFIX)/lib/vaenc/libvaenc_fault_drv_video.so
	-rmdir $(DESTDIR)$(PREFIX)/lib/vaenc 2>/dev/null

# Checks the installed fault driver around the installed reference driver with vainfo.
check-install: packages-test
	@scripts/check-fault-driver.sh $(DESTDIR)$(PREFIX)/lib/vaenc

# Runs the tests under the address, leak and thread sanitizers.
sanitize: packages-test fixtures build-all
	@scripts/sanitize.sh

format:
	$(SWIFT) format --in-place --recursive Sources Tests Benchmarks Package.swift

clean:
	rm -rf .build .build-*
