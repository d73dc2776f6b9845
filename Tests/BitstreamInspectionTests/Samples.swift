import BitstreamInspection
import TestOracles
import Testing

/// A stream of x264: many structures and rates, all from one clip.
struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var options: String
    var frames: Int
    var width = 96
    var height = 80

    var testDescription: String { name }

    func stream() throws -> [UInt8] {
        try MadeStreams.stream("x264 \(width)x\(height) \(frames) \(options)") {
            try ForeignEncoder.x264(Fixture.carphone.frames(frames, width: width, height: height), options: options)
        }
    }

    /// Returns the first 24 pictures of the stream, or with HRD parameters the first 45, which are more than one
    /// buffering period.
    func start() throws -> [UInt8] {
        let bytes = try stream()
        let stream = H264Stream(annexB: bytes)
        return stream.removing(Set(stream.frames.map(\.index).dropFirst(options.contains("hrd=") ? 45 : 24)), from: bytes)
    }

    /// Streams without HRD parameters.
    static let structures = [
        Sample(name: "I and P", options: "qp=26:keyint=10:bframes=0:ref=1", frames: 24),
        Sample(name: "four references", options: "qp=26:keyint=250:bframes=0:ref=4:weightp=0", frames: 24),
        Sample(name: "weights", options: "qp=26:keyint=250:bframes=2:ref=4:weightp=2:weightb=1", frames: 24),
        Sample(name: "flat B", options: "qp=26:keyint=16:bframes=3:b-adapt=0:b-pyramid=0", frames: 40),
        Sample(name: "strict pyramid", options: "qp=26:keyint=20:bframes=5:b-adapt=0:b-pyramid=1:ref=3", frames: 50),
        Sample(name: "pyramid", options: "qp=26:keyint=250:bframes=7:b-adapt=0:b-pyramid=2:ref=5", frames: 60),
        Sample(
            name: "open GOP", options: "qp=26:keyint=12:min-keyint=1:open-gop=1:bframes=3:b-adapt=0:b-pyramid=2",
            frames: 60),
        Sample(name: "slices", options: "qp=26:keyint=10:bframes=2:slices=4:aud=1", frames: 16),
        Sample(name: "CAVLC", options: "qp=30:keyint=10:bframes=1:cabac=0:8x8dct=0:deblock=-2,3", frames: 16),
        Sample(name: "intra refresh", options: "qp=30:keyint=10:intra-refresh=1:bframes=0", frames: 40),
        Sample(name: "interlaced by macroblocks", options: "qp=30:keyint=10:bframes=2:interlaced=1", frames: 16),
        Sample(name: "scaling lists", options: "qp=30:keyint=10:cqm=jvt", frames: 8),
        Sample(name: "cropped", options: "qp=30:keyint=10:bframes=1", frames: 8, width: 50, height: 38),
    ]

    /// Streams with HRD parameters at 25 frames/s.
    static let rates = [
        Sample(
            name: "CBR, pyramid, open GOP",
            options:
                "nal-hrd=cbr:bitrate=120:vbv-maxrate=120:vbv-bufsize=120:keyint=30:bframes=3:b-pyramid=2:open-gop=1",
            frames: 100),
        Sample(
            name: "CBR, small buffer",
            options: "nal-hrd=cbr:bitrate=60:vbv-maxrate=60:vbv-bufsize=30:keyint=12:bframes=2:b-pyramid=0:ref=1",
            frames: 60),
        Sample(
            name: "CBR, I and P",
            options: "nal-hrd=cbr:bitrate=300:vbv-maxrate=300:vbv-bufsize=150:keyint=25:bframes=0", frames: 60),
        Sample(
            name: "VBR, strict pyramid",
            options: "nal-hrd=vbr:bitrate=90:vbv-maxrate=200:vbv-bufsize=100:keyint=40:bframes=7:b-pyramid=1:ref=4",
            frames: 100),
        Sample(
            name: "VBR, slices",
            options: "nal-hrd=vbr:bitrate=50:vbv-maxrate=55:vbv-bufsize=55:keyint=25:bframes=0:slices=3:aud=1",
            frames: 80),
        Sample(
            name: "VBR, intra refresh",
            options: "nal-hrd=vbr:bitrate=200:vbv-maxrate=400:vbv-bufsize=200:keyint=20:intra-refresh=1:bframes=0",
            frames: 60),
        Sample(
            name: "VBR at a quality",
            options: "nal-hrd=vbr:crf=24:vbv-maxrate=150:vbv-bufsize=300:keyint=20:bframes=3:open-gop=1", frames: 80),
    ]
}

extension H264Stream {
    /// Returns the stream's bytes without the given access units.
    func removing(_ dropped: Set<Int>, from bytes: [UInt8]) -> [UInt8] {
        frames.filter { !dropped.contains($0.index) }.flatMap { Array(bytes[byteRange($0)]) }
    }

    func byteRange(_ frame: H264Frame) -> Range<Int> {
        let start = nalUnits[frame.nalUnits.lowerBound].offset
        return start..<(start + frame.byteCount)
    }
}
