import MediaFiles
import ReferenceDisplay
import TestOracles
import Testing
import VAAPI

@testable import Vaenc

/// The choice of a codec that was not requested, and its reason.
@Suite struct CodecChoiceTests {
    private static let size = VideoSize(width: 1280, height: 720)

    private static func capability(_ profile: CodecProfile, from least: Int, to most: Int) -> Capability {
        var surface = SurfaceCapabilities()
        (surface.minWidth, surface.minHeight) = (least, least)
        (surface.maxWidth, surface.maxHeight) = (most, most)
        return Capability(Profile(profile), at: .encodeSlice, attributes: ConfigAttributes(values: [:]), surfaces: surface)
    }

    private static func choose(
        _ capabilities: [Capability], profile: CodecProfile? = nil, size: VideoSize? = size, depth: Int = 8,
        requiresDepth: Bool = false, container: OutputFormat? = nil
    ) -> (codec: VideoCodec, why: String) {
        let choice = CodecChoice.choose(
            profile: profile, size: size, depth: depth, requiresDepth: requiresDepth, container: container,
            on: DeviceReport(kind: .vaapi, usable: true, capabilities: capabilities))
        return (choice.codec, "\(choice.why)")
    }

    @Test func hevcIsChosenIfTheDeviceSupportsTheRequest() {
        let h264 = Self.capability(.h264High, from: 32, to: 4096)
        let main = Self.capability(.hevcMain, from: 128, to: 8192)
        let deep = Self.capability(.hevcMain10, from: 128, to: 8192)
        #expect(Self.choose([h264, main]) == (.hevc, "the device encodes HEVC Main of 1280×720"))
        #expect(Self.choose([h264, main], size: nil) == (.hevc, "the device encodes HEVC Main"))
        #expect(Self.choose([h264]) == (.h264, "the device does not encode HEVC"))
        let tiny = VideoSize(width: 64, height: 64)
        #expect(Self.choose([h264, main], size: tiny) == (.h264, "the device encodes HEVC from 128×128 to 8192×8192, not 64×64"))
        let huge = VideoSize(width: 16384, height: 8192)
        #expect(Self.choose([h264, main], size: huge).codec == .h264)
        #expect(Self.choose([h264, main], depth: 10) == (.h264, "the device encodes HEVC Main, not Main 10"))
        #expect(Self.choose([h264, main, deep], depth: 10) == (.hevc, "the device encodes HEVC Main 10 of 1280×720"))
        var decodes = main
        decodes.entryPoint = .decode
        #expect(Self.choose([h264, decodes]).codec == .h264)
        // Low-power encoding is sufficient.
        var low = main
        low.entryPoint = .encodeSliceLowPower
        #expect(Self.choose([h264, low]).codec == .hevc)
    }

    @Test func requestsAndContainersPrecedeTheDevice() {
        let main = Self.capability(.hevcMain, from: 128, to: 8192)
        #expect(Self.choose([main], profile: .h264Main) == (.h264, "the requested profile"))
        #expect(Self.choose([], profile: .hevcMain10).codec == .hevc)
        #expect(Self.choose([], depth: 10, requiresDepth: true).codec == .hevc)
        #expect(Self.choose([main], container: .flv) == (.h264, "flv cannot contain HEVC"))
        for container in OutputFormat.allCases where container != .flv {
            #expect(Self.choose([main], container: container).codec == .hevc, "\(container)")
        }
    }

    /// An option that only one codec has decides: a request overrides the default.
    @Test func codecSpecificOptionsDecide() {
        func bound(_ change: (inout EncoderConfiguration) -> Void) -> VideoCodec? {
            var configuration = EncoderConfiguration(size: Self.size)
            change(&configuration)
            return CodecChoice.codec(determinedBy: configuration)?.codec
        }
        #expect(bound { _ in } == nil)
        #expect(
            bound {
                $0.codec = .hevc; $0.coding.entropy = .cavlc
            } == .hevc)
        #expect(
            bound {
                $0.profile = .hevcMain; $0.coding.entropy = .cavlc
            } == .hevc)
        #expect(bound { $0.coding.entropy = .cavlc } == .h264 && bound { $0.coding.entropy = .cabac } == .h264)
        #expect(bound { $0.coding.transform8x8 = false } == .h264)
        #expect(bound { $0.bitDepth = 10 } == .hevc && bound { $0.bitDepth = 8 } == nil)
        // From the tables of levels in the standards.
        for level in [9, 11, 12, 13, 22, 32, 42] { #expect(bound { $0.level = CodecLevel(tenths: level) } == .h264, "\(level)") }
        for level in [10, 20, 21, 30, 31, 40, 41, 50, 51, 52, 60, 61, 62] {
            #expect(bound { $0.level = CodecLevel(tenths: level) } == nil, "\(level)")
        }
        #expect(
            bound {
                $0.coding.slices = 4; $0.structure.intraRefresh = true; $0.structure.temporalLayers = 3; $0.structure.bFrames = 3
            } == nil)
    }

    @Test func softwareChoosesHEVCOnlyForTenBits() {
        let software = DeviceReport(kind: .software, usable: true)
        #expect(CodecChoice.choose(size: Self.size, on: software).codec == .h264)
        #expect(CodecChoice.choose(size: Self.size, depth: 10, on: software).codec == .hevc)
    }

    /// The expected support of HEVC Main at 720p, and of Main 10, is from the vendors' drivers.
    @Test(arguments: Personality.all) func personalitiesMatchTheirDrivers(_ name: String?) throws {
        let display = try ReferenceDisplay.open(name.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:])
        let report = DeviceReport(display)
        let none = ["i965-1616", "i965-1916", "i965-3E92", "i965-5916", "iHD-1912", "iHD-3E92", "iHD-5916"]
        // Skylake and Raven Ridge support only 8 bits.
        let eightBits = ["iHDnonfree-1912", "radeonsi-raven", "radeonsi25-raven"]
        let choice = CodecChoice.choose(size: Self.size, on: report)
        let hasHEVC = !none.contains(name ?? "")
        #expect(choice.codec == (hasHEVC ? .hevc : .h264), "\(choice.why)")
        #expect(!"\(choice.why)".isEmpty)
        let deep = CodecChoice.choose(size: Self.size, depth: 10, on: report)
        #expect(deep.codec == (hasHEVC && !eightBits.contains(name ?? "") ? .hevc : .h264), "\(deep.why)")
        #expect(CodecChoice.choose(size: Self.size, container: .flv, on: report).codec == .h264)
        let probe = Devices.defaultChoice(among: [report], asked: .reference)
        #expect(probe.codec == CodecChoice.choose(on: report).codec && probe.why.description.contains("\(CodecChoice.choose(on: report).why)"))
    }

    /// Without a request, a session uses the choice and reports it.
    @Test func sessionUsesAndReportsTheChoice() throws {
        var configuration = Pictures.configuration()
        #expect(configuration.codec == nil)
        for (format, device, codec) in [
            (PixelFormat.nv12, DeviceSelector.software, VideoCodec.h264), (.p010, .software, .hevc), (.nv12, .reference, .hevc),
            (.p010, .reference, .hevc),
        ] {
            configuration.inputFormat = format
            let session = try CompressionSession(configuration: configuration, device: device) { _ in }
            defer { session.invalidate() }
            let description = try session.encoderDescription
            #expect(description.codec == codec && description.profile.bitDepth == format.bitDepth)
            #expect(session.choice.codec == description.codec)
            let entry = try #require(description.effective.first { $0.option == "codec" })
            #expect(entry.asked == nil && entry.used == description.codec.rawValue && entry.why == "\(session.choice.codecReason)")
            #expect(description.effective.filter { $0.option == "codec" }.count == 1)
            #expect(session.choice.codec == codec)
            // The chosen codec is no request.
            #expect(session.configuration.codec == nil && session.configuration == configuration)
        }
        configuration.inputFormat = .nv12
        configuration.codec = .hevc
        let session = try CompressionSession(configuration: configuration, device: .software) { _ in }
        defer { session.invalidate() }
        let entry = try #require(try session.encoderDescription.effective.first { $0.option == "codec" })
        #expect(entry.asked == "hevc" && entry.used == "hevc" && entry.why == .requested)
    }

    /// Packets have the codec of their format, also after a swap. A property that decides the codec takes effect at
    /// once.
    @Test func packetsHaveTheirCodec() async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: .reference)
        #expect(session.choice.codec == .hevc)
        try session.set(.h264EntropyMode, to: .cavlc)
        #expect(session.choice.codec == .h264)
        try Pictures.encode(0..<2, on: session)
        try await session.swap(to: Pictures.configuration())
        #expect(session.choice.codec == .hevc)
        try Pictures.encode(2..<4, on: session)
        try await session.completeFrames()
        session.invalidate()
        #expect(try await read(4, of: session).map(\.codec) == [.h264, .h264, .hevc, .hevc])
    }
}
