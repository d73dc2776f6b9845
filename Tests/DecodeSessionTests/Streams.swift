import DecodeSession
import Synchronization
import TestOracles
import VideoBase

/// A stream of a foreign encoder, and its pictures as libavcodec decodes them.
struct Stream: Sendable {
    var codec: VideoCodec
    var bytes: [UInt8]
    var pictures: [PlanarFrame]

    var oracle: StreamCodec { codec == .h264 ? .h264 : .hevc }

    init(_ codec: VideoCodec, _ bytes: [UInt8]) {
        self.codec = codec
        self.bytes = bytes
        pictures = ForeignDecoder.libavcodec.decode(bytes, codec: codec == .h264 ? .h264 : .hevc).frames
    }

    /// The streams that this process has encoded: many tests use the same stream.
    private static let made = Mutex<[String: Stream]>([:])

    /// Encodes the carphone clip with B pictures that others refer to, a key picture every ten, and two slices a
    /// picture in H.264.
    static func make(_ codec: VideoCodec, frames: Int = 24, width: Int = 96, height: Int = 80, bitDepth: Int = 8, options: String = "")
        throws -> Stream
    {
        try made.withLock { made in
            let name = "\(codec) \(frames) \(width)×\(height) \(bitDepth) \(options)"
            if let stream = made[name] { return stream }
            let stream = try encode(codec, frames, width, height, bitDepth, options)
            made[name] = stream
            return stream
        }
    }

    private static func encode(
        _ codec: VideoCodec, _ frames: Int, _ width: Int, _ height: Int, _ bitDepth: Int, _ options: String
    ) throws -> Stream {
        var source = try Fixture.carphone.frames(frames, width: width, height: height)
        if bitDepth == 10 { source = source.map(\.widenedTo10Bits) }
        let common = "qp=30:keyint=10:min-keyint=10:bframes=3:b-adapt=0:scenecut=0"
        let extra = options.isEmpty ? "" : ":" + options
        return Stream(
            codec,
            codec == .h264
                ? try ForeignEncoder.x264(source, options: common + ":b-pyramid=normal:threads=1:slices=2" + extra)
                : try ForeignEncoder.x265(source, options: common + ":b-pyramid=1" + extra))
    }

    /// The NAL units without start codes.
    var units: [[UInt8]] { Self.units(bytes) }

    static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        let starts = bytes.indices.dropLast(2).filter { bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1 }
        return starts.enumerated().map { index, start in
            var unit = bytes[(start + 3)..<(index + 1 < starts.count ? starts[index + 1] : bytes.count)]
            while unit.last == 0 { unit.removeLast() }
            return Array(unit)
        }
    }

    static func annexB(_ units: some Sequence<[UInt8]>) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    func isSlice(_ unit: [UInt8]) -> Bool { codec == .h264 ? [1, 5].contains(unit[0] & 31) : unit[0] >> 1 & 63 < 32 }
    func isKeySlice(_ unit: [UInt8]) -> Bool { codec == .h264 ? unit[0] & 31 == 5 : (16...21).contains(unit[0] >> 1 & 63) }
    /// Returns whether the unit is of an HEVC RASL picture.
    func isSkippedLeading(_ unit: [UInt8]) -> Bool { codec == .hevc && [8, 9].contains(unit[0] >> 1 & 63) }
    func isParameterSet(_ unit: [UInt8]) -> Bool {
        codec == .h264 ? [7, 8].contains(unit[0] & 31) : (32...34).contains(unit[0] >> 1 & 63)
    }
    func startsPicture(_ unit: [UInt8]) -> Bool {
        isSlice(unit) && (codec == .h264 ? unit[1] & 0x80 != 0 : unit[2] & 0x80 != 0)
    }
}

/// The output of a pipeline.
struct Run {
    var frames: [DecodedFrame] = []
    var skipped: [SkippedPicture] = []
    var statistics = DecoderStatistics()

    /// Whether every accepted picture was output or skipped exactly once.
    var addsUp: Bool {
        let seen = frames.map(\.index) + skipped.map(\.index)
        return statistics.pending == 0 && statistics.delivered == frames.count && statistics.skippedCount == skipped.count
            && seen.sorted() == Array(0..<statistics.taken)
    }
}

final class Collector {
    var run = Run()
    /// If false, each picture is read into `pictures` and released.
    var keepsPictures = true
    var pictures: [PlanarFrame?] = []

    func pipeline(_ configuration: DecompressionConfiguration, on device: DecodeDevice? = nil) throws -> DecodePipeline {
        let noPicture = try SystemPixelBuffer(format: .nv12, size: VideoSize(width: 2, height: 2))
        return try DecodePipeline(configuration, on: device) { [self] output, _ in
            switch output {
            case .frame(var frame):
                if !keepsPictures {
                    pictures.append((try? frame.planar()) ?? nil)
                    frame.buffer = noPicture
                }
                run.frames.append(frame)
            case .skipped(let picture): run.skipped.append(picture)
            }
        }
    }
}

/// Decodes pieces, the n-th at the time n / 25. `endsPicture` is whether each one ends a picture.
func decode(
    _ pieces: [[UInt8]], _ configuration: DecompressionConfiguration, endsPicture: Bool, on device: DecodeDevice? = nil
) throws -> Run {
    let collector = Collector()
    let pipeline = try collector.pipeline(configuration, on: device)
    for (index, piece) in pieces.enumerated() {
        let time = MediaTime(value: Int64(index), timescale: 25)
        try pipeline.decode(piece, FrameTiming(presentation: time), endsPicture: endsPicture)
    }
    try pipeline.finish()
    collector.run.statistics = pipeline.statistics
    return collector.run
}

extension DecodedFrame {
    /// Returns the samples of NV12 or P010 in the planar layout of the oracle.
    func planar() throws -> PlanarFrame? {
        let (size, format) = (buffer.size, buffer.format)
        let bytes = try unsafe buffer.withUnsafePlanes { planes in
            var result: [UInt8] = []
            let step = format == .p010 ? 2 : 1
            func sample(_ plane: Int, _ row: Int, _ column: Int) {
                let pointer = unsafe planes.base(plane) + row * planes.pitch(plane) + column * step
                if step == 1 {
                    result.append(unsafe pointer.load(as: UInt8.self))
                } else {
                    let value = unsafe pointer.loadUnaligned(as: UInt16.self) >> 6
                    result.append(UInt8(truncatingIfNeeded: value))
                    result.append(UInt8(value >> 8))
                }
            }
            for row in 0..<size.height { for column in 0..<size.width { sample(0, row, column) } }
            for component in 0..<2 {
                for row in 0..<((size.height + 1) / 2) {
                    for column in 0..<((size.width + 1) / 2) { sample(1, row, column * 2 + component) }
                }
            }
            return result
        }
        return PlanarFrame(width: size.width, height: size.height, bitDepth: format == .p010 ? 10 : 8, bytes: bytes)
    }
}
