# vaenc: `make demo` shows it, `make test` proves it, `make install PREFIX=…` installs it.
# Every target installs the Debian packages that it needs and that are missing (as root, or with sudo).

PREFIX ?= /usr/local
DESTDIR ?=
SHARED ?= ../shared
SWIFT ?= swift
SWIFTFLAGS ?= --explicit-target-dependency-import-check error
# Tests look inside modules, in release: an unoptimised reference driver is some fifty times slower.
TESTABLE := -Xswiftc -enable-testing
TESTS := .build/release
# What users run is built without that, in a folder of its own: the two builds share no object file.
PRODUCTS := --scratch-path .build/products
BUILD := .build/products/release

.PHONY: all build demo test test-dependent test-allocations test-clients test-drivers test-devices faults soak bench install check-install uninstall fixtures format sanitize clean

all: build

.PHONY: packages-build packages-test packages-demo packages-clients
packages-build packages-test packages-demo packages-clients: packages-%:
	@scripts/install-packages.sh $*

# vaenc and the reference driver, in one build: they share no module, and so keep two cores busy.
build: packages-build
	VAENC_PRODUCTS=vaenc $(SWIFT) build -c release $(SWIFTFLAGS) $(PRODUCTS)
	@scripts/check-exports.sh $(BUILD)/libvaenc_drv_video.so

# The fault driver besides.
.PHONY: build-all
build-all: packages-build
	VAENC_PRODUCTS=all $(SWIFT) build -c release $(SWIFTFLAGS) $(PRODUCTS)
	@scripts/check-exports.sh $(BUILD)/libvaenc_drv_video.so
	@scripts/check-exports.sh $(BUILD)/libvaenc_fault_drv_video.so

fixtures:
	@scripts/fetch-fixtures.sh

demo: packages-demo build fixtures
	@scripts/demo.sh $(BUILD)

# What a developer runs all day: every module and feature, foreign decoders and clients. docs/TESTING.md lists what each part proves.
test: test-build
	@scripts/run-tests.py $(TESTS)

.PHONY: test-build test-all test-matrix test-faults test-times
test-build: packages-test fixtures
	$(SWIFT) build -c release $(SWIFTFLAGS) $(TESTABLE) --build-tests
	@scripts/check-exports.sh $(TESTS)/libvaenc_drv_video.so
	@scripts/check-exports.sh $(TESTS)/libvaenc_fault_drv_video.so

# The parts that `make test` leaves out, each alone.
test-matrix test-faults test-times: test-%: test-build
	@scripts/run-tests.py $(TESTS) $*

# Everything, an hour and more; needs the tools in SHARED.
test-all: test test-matrix test-faults test-times test-codec-seam test-dependent test-devices test-drivers

# A codec that nobody implements is a compiler error in every file that docs/ADDING-A-CODEC.md lists.
.PHONY: test-codec-seam
test-codec-seam: packages-build
	@scripts/check-codec-seam.py

# A package that depends on this one, by URL and version, as README.md says: a debug build, and every program of the pages.
test-dependent: packages-test
	@DRIVER=$(firstword $(wildcard $(TESTS)/libvaenc_drv_video.so $(BUILD)/libvaenc_drv_video.so)) scripts/test-dependent.sh

# Every allocation of FFmpeg's libraries in every command, one failing in each run: more than an hour.
test-allocations: packages-test fixtures
	@VAENC_ALLOCATION_SWEEP=all $(SWIFT) test -c release $(SWIFTFLAGS) $(TESTABLE) --filter AllocationFailureTests

# The programs of libva-utils on the reference driver; fetches Debian's source package, or takes the tree LIBVA_UTILS.
test-clients: packages-clients build
	@scripts/test-clients.sh $(BUILD)

# Every call of an encode, failing, late and corrupt, at every place; prints the table.
faults: packages-test fixtures
	@$(SWIFT) test -c release $(SWIFTFLAGS) $(TESTABLE) --filter FaultSweep

# The real Intel and AMD drivers over faked kernels; needs the tools in SHARED.
test-drivers: packages-test
	@scripts/test-drivers.sh $(SHARED)

# The kernel's own test cameras and sound card, in a virtual machine; needs the tools in SHARED.
test-devices:
	@scripts/test-devices.sh $(SHARED)

# A million pictures for each codec, and 100,000 into each container, on a device that costs nothing: half an hour.
soak: packages-test build
	@scripts/soak.py $(BUILD)/vaenc

bench: packages-test build-all fixtures
	@Benchmarks/run

# vaenc and the driver carry their Swift runtime: they run where no toolchain is.
install: build-all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/vaenc
	install -m 755 -s $(BUILD)/vaenc $(DESTDIR)$(PREFIX)/bin/vaenc
	install -m 644 -s $(BUILD)/libvaenc_drv_video.so $(DESTDIR)$(PREFIX)/lib/vaenc/
	install -m 644 -s $(BUILD)/libvaenc_fault_drv_video.so $(DESTDIR)$(PREFIX)/lib/vaenc/

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/vaenc $(DESTDIR)$(PREFIX)/lib/vaenc/libvaenc_drv_video.so
	rm -f $(DESTDIR)$(PREFIX)/lib/vaenc/libvaenc_fault_drv_video.so
	-rmdir $(DESTDIR)$(PREFIX)/lib/vaenc 2>/dev/null

# The fault driver as installed, around the reference driver as installed, under vainfo.
check-install: packages-test
	@scripts/check-fault-driver.sh $(DESTDIR)$(PREFIX)/lib/vaenc

# Address, leak and thread sanitizers over the tests that make and free VA objects: 15 minutes besides the builds.
sanitize: packages-test fixtures build-all
	@scripts/sanitize.sh

format:
	$(SWIFT) format --in-place --recursive Sources Tests Benchmarks Package.swift

clean:
	rm -rf .build .build-*
