// swift-tools-version: 6.2
import PackageDescription

// Layers are drawn in docs/ARCHITECTURE.md: a target lists what it may import, and the build refuses the rest.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

// The program contains the Swift runtime: it starts a third faster, and runs on systems without a toolchain. With a
// sanitizer the runtime is a shared library, because the static one hides the sanitizer's malloc from libva: memory would
// be allocated by one allocator and freed by the other.
let ownRuntime = Context.environment["VAENC_SANITIZER"] == nil ? ["-static-stdlib"] : []

// lld packs the relocations of the program (glibc 2.36), which start-up must process. The program exports no symbol, except
// with a sanitizer, whose functions the libraries must find. The folder has a linker script that replaces libstdc++.so by the
// static library.
let packing = [
    "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker",
    "--version-script=\(Context.packageDirectory)/Sources/VaencCLI/Linking/exports.map",
    "-L\(Context.packageDirectory)/Sources/VaencCLI/Linking",
]
let programLinking = Context.environment["VAENC_SANITIZER"] == nil ? packing : []

// A driver exports libva's entry point and nothing else: the program that loads it may have functions of the same names.
let driverLinking: [LinkerSetting] = [
    .unsafeFlags([
        "-static-stdlib", "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/Drivers/exports.map",
    ])
]

// Most tests are compiled without optimization in release builds too, because that takes less time. The code that they
// test is optimized. The exceptions (`strict`) compute for a long time themselves.
let unoptimized: [SwiftSetting] = [.unsafeFlags(["-Onone"])]
let test = strict + unoptimized

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "vaenc",
    products: [
        .library(name: "Vaenc", targets: ["Vaenc"]),
        .executable(name: "vaenc", targets: ["VaencCLI"]),
        // libva appends `_drv_video.so` to a driver's name: this file is the driver `libvaenc`.
        .library(name: "vaenc_drv_video", type: .dynamic, targets: ["ReferenceDriver", "StandaloneDriver"]),
        // The driver `libvaenc_fault`, which wraps another and fails on demand.
        .library(
            name: "vaenc_fault_drv_video", type: .dynamic, targets: ["FaultDriver", "StandaloneFaultDriver"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        // L0: system libraries
        .systemLibrary(name: "CVA", providers: [.apt(["libva-dev"])]),
        .systemLibrary(name: "CDRM", pkgConfig: "libdrm", providers: [.apt(["libdrm-dev"])]),
        .target(name: "CLibAV"),
        // V4L2 through libv4l2, which is loaded when a camera is opened. SDL2 is loaded when a window is requested.
        .target(name: "CV4L2"),
        .target(name: "CSDL"),
        // L1
        .target(name: "VideoBase", swiftSettings: strict),
        // The only module that starts threads.
        .target(name: "Threads", swiftSettings: strict),
        .target(name: "NALUnits", dependencies: ["VideoBase"], swiftSettings: strict),
        // Detects pictures that libavcodec decoded incompletely.
        .target(name: "DecodeDamageDetection", dependencies: ["CLibAV"], swiftSettings: strict),
        .target(
            name: "LibAV", dependencies: ["CLibAV", "VideoBase", "NALUnits", "DecodeDamageDetection"], swiftSettings: strict),
        // Replaces FoundationEssentials in the programs that `make` builds.
        .target(name: "FoundationSubset", swiftSettings: strict),
        // L2
        .target(name: "H264Syntax", dependencies: ["VideoBase", "NALUnits"], swiftSettings: strict),
        .target(name: "HEVCSyntax", dependencies: ["VideoBase", "NALUnits"], swiftSettings: strict),
        // Reads what the writers write, and shares nothing with them.
        .target(name: "BitstreamInspection", swiftSettings: strict),
        .target(name: "EncodePlanning", dependencies: ["VideoBase"], swiftSettings: strict),
        .target(name: "RateControl", dependencies: ["VideoBase"], swiftSettings: strict),
        .target(
            name: "VAAPI", dependencies: ["CVA", "CDRM", "Threads", "VideoBase"], swiftSettings: strict,
            linkerSettings: [.linkedLibrary("va"), .linkedLibrary("va-drm")]),
        // A libva back end, loaded by libva and never linked. It carries its own Swift runtime, hidden, so that it
        // runs in any program.
        .target(
            name: "ReferenceDriver", dependencies: ["CVA", "CLibAV", "DecodeDamageDetection"], path: "Sources/Drivers/Reference",
            swiftSettings: strict),
        .target(name: "FaultDriver", dependencies: ["CVA"], path: "Sources/Drivers/Fault", swiftSettings: strict),
        // Only the link settings of the driver files. Tests link the code in ReferenceDriver and FaultDriver without them.
        .target(name: "StandaloneDriver", path: "Sources/Drivers/Linking/Reference", linkerSettings: driverLinking),
        .target(
            name: "StandaloneFaultDriver", dependencies: ["CVA", "FaultDriver"], path: "Sources/Drivers/Linking/Fault",
            swiftSettings: strict, linkerSettings: driverLinking),
        // L3
        .target(
            name: "ReferenceDisplay", dependencies: ["CVA", "VAAPI", "VideoBase"], swiftSettings: strict,
            linkerSettings: [.linkedLibrary("va")]),
        .target(
            name: "EncodeSession",
            dependencies: [
                "Threads", "VideoBase", "NALUnits", "H264Syntax", "HEVCSyntax", "EncodePlanning", "RateControl", "VAAPI",
            ],
            swiftSettings: strict),
        .target(
            name: "SoftwareEncode",
            dependencies: [
                "CLibAV", "LibAV", "Threads", "VideoBase", "NALUnits", "BitstreamInspection", "H264Syntax", "HEVCSyntax", "RateControl",
            ],
            swiftSettings: strict),
        .target(
            name: "MediaFiles", dependencies: ["CLibAV", "LibAV", "Threads", "VideoBase", "NALUnits", "BitstreamInspection"],
            swiftSettings: strict),
        .target(
            name: "DecodeSession",
            dependencies: ["CLibAV", "LibAV", "Threads", "VideoBase", "BitstreamInspection", "VAAPI"],
            swiftSettings: strict),
        .target(
            name: "Capture", dependencies: ["CV4L2", "CLibAV", "LibAV", "Threads", "VideoBase"], swiftSettings: strict),
        .target(name: "Preview", dependencies: ["CSDL", "Threads", "VideoBase"], swiftSettings: strict),
        // L4
        .target(
            name: "Vaenc",
            dependencies: [
                "Threads", "VideoBase", "NALUnits", "VAAPI", "EncodeSession", "DecodeSession", "SoftwareEncode", "MediaFiles",
                "Capture", "ReferenceDisplay",
            ],
            swiftSettings: strict),
        // L5
        .executableTarget(
            name: "VaencCLI",
            dependencies: [
                "Vaenc", "Threads", "VideoBase", "VAAPI", "MediaFiles", "Capture", "Preview", "BitstreamInspection", "NALUnits",
                argumentParser,
            ],
            exclude: ["Linking"],
            swiftSettings: strict + [.unsafeFlags(ownRuntime)], linkerSettings: [.unsafeFlags(ownRuntime + programLinking)]),
        // The programs of docs/PROGRAMS.md, with the library alone.
        .executableTarget(name: "Examples", dependencies: ["Vaenc"], path: "Examples", swiftSettings: strict),
        // Test support. TestOracles has decoders and readers of other projects.
        .target(
            name: "CTestOracles", path: "Tests/CTestOracles",
            linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .target(
            name: "TestOracles", dependencies: ["CTestOracles", "BitstreamInspection"], path: "Tests/TestOracles",
            swiftSettings: strict),
        .target(
            name: "ExtremeValues", dependencies: ["VideoBase"], path: "Tests/ExtremeValues", swiftSettings: strict),
        .target(
            name: "PacketDecoding", dependencies: ["CLibAV", "LibAV", "MediaFiles", "VideoBase"], path: "Tests/PacketDecoding",
            swiftSettings: strict),
        .testTarget(
            name: "BitstreamInspectionTests", dependencies: ["BitstreamInspection", "TestOracles"],
            swiftSettings: test),
        .testTarget(
            name: "StreamTests",
            dependencies: [
                "TestOracles", "BitstreamInspection", "EncodeSession", "ExtremeValues", "ReferenceDisplay", "VAAPI", "VideoBase",
            ],
            swiftSettings: test),
        .testTarget(name: "CommandLineTests", dependencies: ["TestOracles"], swiftSettings: test),
        .testTarget(name: "TestOraclesTests", dependencies: ["TestOracles"], swiftSettings: test),
        .testTarget(name: "VideoBaseTests", dependencies: ["VideoBase"], swiftSettings: unoptimized),
        .testTarget(name: "FoundationSubsetTests", dependencies: ["FoundationSubset"], swiftSettings: test),
        .testTarget(
            name: "VaencTests",
            dependencies: [
                "EncodeSession", "ExtremeValues", "MediaFiles", "ReferenceDisplay", "TestOracles", "VAAPI", "Vaenc", "Threads", "VideoBase",
            ],
            swiftSettings: unoptimized),
        .testTarget(
            name: "NALUnitsTests", dependencies: ["NALUnits", "TestOracles", "VideoBase"], swiftSettings: strict),
        .testTarget(
            name: "H264SyntaxTests", dependencies: ["H264Syntax", "NALUnits", "TestOracles", "VideoBase"],
            swiftSettings: test),
        .testTarget(
            name: "HEVCSyntaxTests", dependencies: ["HEVCSyntax", "NALUnits", "TestOracles", "VideoBase"],
            swiftSettings: test),
        .testTarget(
            name: "VAAPITests", dependencies: ["VAAPI", "ReferenceDisplay", "Threads", "VideoBase", "TestOracles", "CVA"],
            swiftSettings: test),
        .testTarget(
            name: "ReferenceDisplayTests", dependencies: ["ReferenceDisplay", "TestOracles", "VAAPI", "VideoBase"],
            swiftSettings: test),
        .testTarget(
            name: "ReferenceDriverTests", dependencies: ["ReferenceDriver", "TestOracles", "CVA"],
            swiftSettings: strict),
        .testTarget(
            name: "ReferenceDriverBackendTests", dependencies: ["ReferenceDriver", "TestOracles", "CVA"],
            swiftSettings: unoptimized),
        .testTarget(name: "OtherProgramsTests", dependencies: ["TestOracles"], swiftSettings: unoptimized),
        .testTarget(
            name: "EncodePlanningTests", dependencies: ["EncodePlanning", "VideoBase"], swiftSettings: strict),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "BitstreamInspection", "EncodeSession", "FaultDriver", "ReferenceDisplay", "TestOracles", "VAAPI",
                "Threads", "VideoBase",
            ],
            swiftSettings: test),
        .testTarget(name: "ReferenceDecodeTests", dependencies: ["TestOracles"], swiftSettings: test),
        .testTarget(
            name: "DecodeSessionTests",
            dependencies: [
                "DecodeSession", "ReferenceDisplay", "TestOracles", "VAAPI", "VideoBase",
            ],
            swiftSettings: test),
        .testTarget(name: "CaptureTests", dependencies: ["Capture", "Preview", "VideoBase"], swiftSettings: test),
        // The programs of docs/PROGRAMS.md, as commands and on the library.
        .testTarget(
            name: "PipelineTests",
            dependencies: ["Capture", "MediaFiles", "TestOracles", "VAAPI", "Vaenc", "Threads", "VideoBase"],
            swiftSettings: test),
        .testTarget(name: "RateControlTests", dependencies: ["RateControl", "VideoBase"], swiftSettings: test),
        .testTarget(
            name: "MediaFilesTests",
            dependencies: [
                "CLibAV", "ExtremeValues", "LibAV", "MediaFiles", "PacketDecoding", "SoftwareEncode", "NALUnits", "TestOracles", "VideoBase",
            ],
            swiftSettings: test),
        .testTarget(
            name: "SoftwareEncodeTests",
            dependencies: [
                "SoftwareEncode", "ExtremeValues", "MediaFiles", "PacketDecoding", "BitstreamInspection", "H264Syntax", "NALUnits", "TestOracles",
                "VideoBase",
            ],
            swiftSettings: test),
        .testTarget(
            name: "EncodeSessionTests",
            dependencies: [
                "BitstreamInspection", "EncodeSession", "ExtremeValues", "EncodePlanning", "H264Syntax", "HEVCSyntax", "NALUnits",
                "RateControl", "ReferenceDisplay", "TestOracles", "VAAPI", "Threads", "VideoBase",
            ],
            swiftSettings: test),
    ]
)

// `make build` sets VAENC_PRODUCTS, so that one build makes the programs that users run and nothing else: `vaenc` leaves the fault
// driver out, `all` builds it too. Packages that depend on this one build only what they use in any case.
if let products = Context.environment["VAENC_PRODUCTS"] {
    let supportOfTests: Set<String> = ["CTestOracles", "TestOracles", "ExtremeValues", "PacketDecoding", "Examples"]
    let faultDriver: Set<String> = products == "all" ? [] : ["FaultDriver", "StandaloneFaultDriver"]
    package.targets.removeAll { $0.type == .test || supportOfTests.union(faultDriver).contains($0.name) }
    if products != "all" { package.products.removeAll { $0.name == "vaenc_fault_drv_video" } }

    // A smaller program: the linker removes each function that is not used, and keeps one of several with equal code. This is
    // not done in other builds, because packages cannot depend on targets with unsafe flags, and because backtraces would name
    // the wrong one of several equal functions.
    for target in package.targets where target.swiftSettings != nil && !target.name.contains("Driver") {
        target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-function-sections"]))
    }
    let program = package.targets.first { $0.name == "VaencCLI" }
    if !programLinking.isEmpty { program?.linkerSettings?.append(.unsafeFlags(["-Xlinker", "--icf=all"])) }
    // The Makefile makes FoundationEssentials an alias of this module.
    for target in package.targets where ["Vaenc", "VaencCLI"].contains(target.name) { target.dependencies.append("FoundationSubset") }
}
