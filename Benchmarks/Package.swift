// swift-tools-version: 6.2
import PackageDescription

// vaenc against other programs, as a user runs them: `Benchmarks/run [PART]...`. The targets linked from Tests hold
// the runner of processes, the foreign decoders and the BD-rate; the one from Sources reads streams.
let package = Package(
    name: "vaenc-benchmarks",
    targets: [
        .target(name: "CTestOracles", linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        .target(
            name: "BitstreamInspection", swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")]),
        .target(
            name: "TestOracles", dependencies: ["CTestOracles", "BitstreamInspection"],
            swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")]),
        .executableTarget(name: "vaenc-benchmarks", dependencies: ["TestOracles", "BitstreamInspection"]),
    ]
)
