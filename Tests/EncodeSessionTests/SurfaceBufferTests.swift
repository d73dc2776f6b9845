import ReferenceDisplay
import Testing
import TestOracles
import VAAPI
import VideoBase

@testable import EncodeSession

/// Encodes pictures that callers hold in surfaces of the device.
@Suite struct SurfaceBufferTests {
    /// An owner whose deallocation shows that its surface is no longer used.
    private final class Owner: Sendable {}

    private static func draw(_ surface: Surface, _ index: Int) throws {
        try unsafe surface.withUnsafePlanes { planes in
            for y in 0..<surface.size.height {
                for x in 0..<surface.size.width {
                    unsafe planes.base(0).storeBytes(
                        of: TestSession.luma(x, y, index), toByteOffset: y * planes.pitch(0) + x, as: UInt8.self)
                }
            }
            for y in 0..<surface.size.height / 2 {
                for x in 0..<surface.size.width {
                    unsafe planes.base(1).storeBytes(
                        of: UInt8(110 + x % 2 * 30 + (y / 8 + index) % 4), toByteOffset: y * planes.pitch(1) + x,
                        as: UInt8.self)
                }
            }
        }
    }

    /// Encodes pictures in surfaces of `size`; returns the packets and the number of surfaces that are still retained.
    private static func run(
        frames: Int, size: VideoSize = TestSession.size, on other: Display? = nil, counts: String? = nil
    ) throws -> (packets: [EncodedPacket], kept: Int) {
        var configuration = EncoderConfiguration(size: TestSession.size)
        configuration.rate.qp = 24
        configuration.structure.bFrames = 2
        let received = Received()
        let display = try ReferenceDisplay.open(counts.map { ["VAENC_REFERENCE_COUNTS": $0] } ?? [:])
        let encoder = try HardwareEncoder(display: display, configuration: configuration, onPacket: received.handler)
        var owners: [() -> Bool] = []
        for index in 0..<frames {
            let surface = try #require(try Surface.make(other ?? display, count: 1, size: size).first)
            try draw(surface, index)
            let owner = Owner()
            owners.append { [weak owner] in owner != nil }
            let buffer = try SurfaceBuffer(surface: surface, visible: size, owner: owner)
            try encoder.encode(buffer, timing: TestSession.timing(index), options: FrameOptions())
        }
        try encoder.completeFrames(until: nil)
        // The encoder's threads release a picture a moment after it is reported complete.
        Polling.wait { !owners.contains { $0() } }
        let kept = owners.count { $0() }
        encoder.invalidate()
        if let error = received.errors.first { throw VaencError(.internalFault, error) }
        return (received.packets, kept)
    }

    private static func drawn(frames: Int) throws -> [UInt8] {
        try TestSession.run(frames: frames) { $0.structure.bFrames = 2 }.stream
    }

    @Test func surfacesAreEncodedWithoutCopies() throws {
        try Files.withTemporaryFolder { folder in
            let (packets, kept) = try Self.run(frames: 7, counts: folder + "/counts")
            #expect(packets.count == 7 && kept == 0)
            // The counts are written when the display is released, which happens on another thread.
            Polling.wait { Files.exists(folder + "/counts") }
            let counts = try #require(JSONValue(String(decoding: Files.read(folder + "/counts"), as: UTF8.self)))
            #expect(counts["encoded"]?.int == 7)
            // The test itself maps each surface to draw.
            #expect(counts["maps"]?.int == 7)
            for method in ["getImage", "putImage", "deriveImage", "import", "export"] {
                #expect(counts["copies"]?[method]?.int == 0, "\(method)")
            }
            #expect(try (packets.stream == Self.drawn(frames: 7)) as Bool)
        }
    }

    @Test func surfacesOfOtherDisplaysAreCopied() throws {
        let (packets, kept) = try Self.run(frames: 5, on: try ReferenceDisplay.open())
        #expect(try (packets.stream == Self.drawn(frames: 5)) as Bool && kept == 0)
    }

    @Test func deviceFitsSurfacesOfOtherSizes() throws {
        let (packets, kept) = try Self.run(frames: 3, size: VideoSize(width: 80, height: 96))
        #expect(packets.count == 3 && kept == 0)
        let video = ForeignDecoder.libavcodec.decode(packets.stream)
        let luma = try #require(video.frames.first).luma
        let width = TestSession.size.width
        for row in [0, 47, 95] {
            let line = Array(luma.dropFirst(row * width).prefix(width))
            #expect(line[0..<36].allSatisfy { abs(Int($0) - 16) < 6 } && line[124...].allSatisfy { abs(Int($0) - 16) < 6 })
            let inside = (44..<116).map { abs(Int(line[$0]) - Int(TestSession.luma($0 - 40, row, 0))) }
            #expect(inside.reduce(0, +) / inside.count < 6)
        }
    }

    /// If no device can fit the picture, it is refused before anything is taken.
    @Test func unfittableSurfacesAreRefused() throws {
        let encoder = try TestSession { _ in }
        let other = try ReferenceDisplay.open()
        let surface = try #require(
            try Surface.make(other, count: 1, size: VideoSize(width: 64, height: 64)).first)
        let buffer = try SurfaceBuffer(surface: surface, visible: surface.size)
        #expect(throws: VaencError.self) {
            try encoder.encoder.encode(buffer, timing: TestSession.timing(0), options: FrameOptions())
        }
        #expect(encoder.encoder.statistics.taken == 0)
    }
}
