import ReferenceDisplay
import TestOracles
import VideoBase

@testable import EncodeSession

/// A session on the reference driver that encodes a picture whose parts move in different ways.
struct TestSession {
    static let size = VideoSize(width: 160, height: 96)
    let encoder: HardwareEncoder
    let received = Received()

    init(_ change: (inout EncoderConfiguration) -> Void) throws {
        var configuration = EncoderConfiguration(size: Self.size)
        configuration.rate.qp = 24
        change(&configuration)
        encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration, onPacket: received.handler)
    }

    /// Encodes all frames and ends the session.
    static func run(
        frames: Int, moved: Int = 0, options: (Int) -> FrameOptions = { _ in FrameOptions() },
        _ change: (inout EncoderConfiguration) -> Void
    ) throws -> [EncodedPacket] {
        let session = try TestSession(change)
        for index in 0..<frames { try session.encode(index, options(index), moved: moved) }
        return try session.finish()
    }

    /// - Parameter moved: the number of frames by which the content is ahead.
    func encode(_ index: Int, _ options: FrameOptions = FrameOptions(), moved: Int = 0) throws {
        let buffer = try encoder.makePixelBuffer()
        try unsafe buffer.withUnsafePlanes { planes in
            for y in 0..<Self.size.height {
                for x in 0..<Self.size.width {
                    unsafe planes.base(0).storeBytes(
                        of: Self.luma(x, y, index + moved), toByteOffset: y * planes.pitch(0) + x, as: UInt8.self)
                }
            }
            for y in 0..<Self.size.height / 2 {
                for x in 0..<Self.size.width {
                    unsafe planes.base(1).storeBytes(
                        of: UInt8(110 + x % 2 * 30 + (y / 8 + index) % 4), toByteOffset: y * planes.pitch(1) + x,
                        as: UInt8.self)
                }
            }
        }
        try encoder.encode(buffer, timing: Self.timing(index), options: options)
    }

    func finish() throws -> [EncodedPacket] {
        try encoder.completeFrames(until: nil)
        encoder.invalidate()
        if let error = received.errors.first { throw VaencError(.internalFault, error) }
        return received.packets
    }

    static func timing(_ index: Int) -> FrameTiming {
        FrameTiming(presentation: MediaTime(value: Int64(index) * 3000, timescale: 90000))
    }

    /// Returns a luma sample of sliding stripes over a still texture.
    static func luma(_ x: Int, _ y: Int, _ frame: Int) -> UInt8 {
        let slide = y < size.height / 2 ? x + 2 * frame : x + 3 * y - frame
        return UInt8(50 + slide % 64 * 2 + (x &* 7 &+ y &* 13) % 16)
    }

    static func source(_ frame: Int) -> [UInt8] {
        (0..<size.height).flatMap { y in (0..<size.width).map { luma($0, y, frame) } }
    }
}

extension [EncodedPacket] {
    var stream: [UInt8] { flatMap(\.bytes) }

    /// Returns the packet of a frame.
    func frame(_ displayIndex: Int) -> EncodedPacket? { first { $0.displayIndex == displayIndex } }
}
