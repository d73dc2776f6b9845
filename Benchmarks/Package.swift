// swift-tools-version: 6.2
import PackageDescription

// Compares vaenc with other programs, run as a user runs them: `Benchmarks/run [PART]...`. The targets linked from Tests
// run processes, decode with foreign decoders and compute the BD-rate. The target linked from Sources reads streams.
let package = Package(
    name: "vaenc-benchmarks",
    targets: [
        .target(name: "CTestOracles", linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .target(
            name: "BitstreamInspection", swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")]),
        .target(
            name: "TestOracles", dependencies: ["CTestOracles", "BitstreamInspection"],
            swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")]),
        .executableTarget(name: "vaenc-benchmarks", dependencies: ["CTestOracles", "TestOracles", "BitstreamInspection"]),
    ]
)
