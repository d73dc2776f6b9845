import MediaFiles
import PacketDecoding
import Synchronization
import Testing
import TestOracles
import VideoBase

@testable import SoftwareEncode

/// Collects packets and errors in the order of delivery.
final class Collector: Sendable {
    private let state = Mutex<(packets: [EncodedPacket], errors: [String])>(([], []))
    var packets: [EncodedPacket] { state.withLock { $0.packets } }
    var errors: [String] { state.withLock { $0.errors } }

    func take(_ result: Result<EncodedPacket, any Error>) {
        state.withLock { state in
            switch result {
            case .success(let packet): state.packets.append(packet)
            case .failure(let error): state.errors.append("\(error)")
            }
        }
    }
}

/// Encodes the test pattern in software, and judges the result with libavcodec.
enum SoftwareRun {
    static let rate = Rational(25)

    static func time(_ index: Int) -> FrameTiming {
        FrameTiming(
            presentation: MediaTime(value: Int64(index), timescale: 25), duration: MediaTime(value: 1, timescale: 25))
    }

    /// Encodes frames `range` of the test pattern.
    static func feed(_ encoder: SoftwareEncoder, _ range: Range<Int>, size: VideoSize) throws {
        if range.isEmpty { return }
        var options = SourceOptions()
        options.start = .milliseconds(range.lowerBound * 40)
        let source = try MediaInput.open(
            "testsrc:\(size.width)x\(size.height)@25:\(range.upperBound)", options: options)
        for index in range {
            let buffer = try encoder.makePixelBuffer()
            _ = try unsafe buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            try encoder.encode(buffer, timing: time(index), options: FrameOptions())
        }
    }

    static func encode(
        _ count: Int, size: VideoSize = VideoSize(width: 176, height: 144),
        _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws -> (packets: [EncodedPacket], description: EncoderDescription) {
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = rate
        configuration.coding.preset = 6
        change(&configuration)
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try encoder.prepare()
        try feed(encoder, 0..<count, size: size)
        try encoder.completeFrames(until: nil)
        #expect(encoder.pendingFrameCount == 0)
        let description = try encoder.encoderDescription
        encoder.invalidate()
        #expect(collector.errors == [])
        return (collector.packets, description)
    }

    /// Returns the mean luma PSNR of the decoded packets against the test pattern, and the times of the pictures.
    static func judge(
        _ packets: [EncodedPacket], codec: VideoCodec, size: VideoSize, first: Int = 0
    ) throws -> (psnr: Double, times: [MediaTime]) {
        let decoder = try PacketDecoder(codec: codec)
        var options = SourceOptions()
        options.start = .milliseconds(first * 40)
        let source = try MediaInput.open("testsrc:\(size.width)x\(size.height)@25:1000", options: options)
        let original = try SystemPixelBuffer(format: .i420, size: size)
        var error = PictureError()
        var times: [MediaTime] = []
        func take(_ planes: PixelPlanes, _ time: MediaTime) throws {
            try unsafe original.withUnsafePlanes { planes2 in
                _ = unsafe try source.readFrame(into: planes2)
                var shown = unsafe planes
                unsafe shown.size = size
                error += unsafe try PictureError(planes2, shown)
            }
            times.append(time)
        }
        for packet in packets { unsafe try decoder.decode(packet, onFrame: take) }
        unsafe try decoder.finish(onFrame: take)
        return (error.psnr(plane: 0), times)
    }
}
