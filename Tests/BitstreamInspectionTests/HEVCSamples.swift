import BitstreamInspection
import TestOracles
import Testing

/// A stream of x265: many structures and rates, all from one clip.
struct HEVCSample: Sendable, CustomTestStringConvertible {
    var name: String
    var options: String
    var frames: Int
    var width = 96
    var height = 80
    var bitDepth = 8

    var testDescription: String { name }

    func stream() throws -> [UInt8] {
        try MadeStreams.stream("x265 \(width)x\(height) \(bitDepth) \(frames) \(options)", encode: encode)
    }

    private func encode() throws -> [UInt8] {
        let clip = try Fixture.carphone.frames(frames, width: width, height: height)
        let frames = bitDepth == 8 ? clip : clip.map(\.widenedTo10Bits)
        let stream = try ForeignEncoder.x265(frames, options: options)
        guard options.hasSuffix(Self.layered), HEVCStream(annexB: stream).frames.allSatisfy({ $0.temporalID == 0 })
        else { return stream }
        // Up to x265 3.5 the value is a flag; in later versions it is the number of layers.
        return try ForeignEncoder.x265(frames, options: options.dropLast() + "2")
    }

    /// Returns the first 24 pictures of the stream, or with HRD parameters the first 45, which are more than one
    /// buffering period.
    func start() throws -> [UInt8] {
        let bytes = try stream()
        let stream = HEVCStream(annexB: bytes)
        return stream.removing(Set(stream.frames.map(\.index).dropFirst(options.contains("hrd=") ? 45 : 24)), from: bytes)
    }

    private static let layered = "temporal-layers=1"

    /// Streams without HRD parameters.
    static let structures = [
        HEVCSample(name: "I and P", options: "qp=26:keyint=10:bframes=0:ref=1", frames: 24),
        HEVCSample(name: "four references", options: "qp=26:keyint=250:bframes=0:ref=4:weightp=0", frames: 24),
        HEVCSample(name: "flat B", options: "qp=26:keyint=16:bframes=3:b-adapt=0:b-pyramid=0:open-gop=0", frames: 40),
        HEVCSample(
            name: "pyramid", options: "qp=26:keyint=250:bframes=7:b-adapt=0:b-pyramid=1:ref=5", frames: 60),
        HEVCSample(
            name: "open GOP", options: "qp=26:keyint=12:min-keyint=12:open-gop=1:bframes=3:b-adapt=0:b-pyramid=1",
            frames: 60),
        HEVCSample(
            name: "sub-layers", options: "qp=26:keyint=24:open-gop=0:bframes=4:b-adapt=0:b-pyramid=1:temporal-layers=1",
            frames: 40),
        HEVCSample(
            name: "open GOP in sub-layers",
            options: "qp=26:keyint=15:min-keyint=15:open-gop=1:bframes=4:b-adapt=0:b-pyramid=1:temporal-layers=1",
            frames: 40),
        HEVCSample(
            name: "RADL", options: "qp=26:keyint=12:min-keyint=12:open-gop=0:radl=2:bframes=4:b-adapt=0", frames: 40),
        HEVCSample(name: "weights", options: "qp=26:keyint=250:bframes=2:ref=4:weightp=1:weightb=1", frames: 24),
        // For slices, x265 needs its own threads.
        HEVCSample(
            name: "slices and wavefronts", options: "qp=26:keyint=10:bframes=2:ctu=32:pools=1:slices=2:wpp=1",
            frames: 16,
            height: 128),
        HEVCSample(name: "wavefronts", options: "qp=20:keyint=10:bframes=2:ctu=16:pools=1:wpp=1", frames: 12),
        HEVCSample(name: "intra refresh", options: "qp=30:keyint=10:intra-refresh=1:bframes=0", frames: 40),
        HEVCSample(
            name: "tools",
            options:
                "qp=30:keyint=10:rect=1:amp=1:tskip=1:signhide=1:constrained-intra=1:cbqpoffs=-2:crqpoffs=3:"
                + "deblock=-2,3:max-merge=2:tu-inter-depth=3:tu-intra-depth=2:aq-mode=1:qg-size=16",
            frames: 12),
        HEVCSample(
            name: "little",
            options: "qp=30:keyint=10:sao=0:no-deblock=1:strong-intra-smoothing=0:temporal-mvp=0:ctu=16",
            frames: 12),
        HEVCSample(name: "scaling lists", options: "qp=30:keyint=10:scaling-list=default", frames: 8),
        HEVCSample(name: "delimiters and MD5", options: "qp=30:keyint=5:aud=1:repeat-headers=1:hash=1", frames: 12),
        HEVCSample(name: "CRC", options: "qp=30:hash=2", frames: 6),
        HEVCSample(name: "checksum", options: "qp=30:hash=3", frames: 6),
        HEVCSample(name: "cropped", options: "qp=30:keyint=10:bframes=1", frames: 8, width: 50, height: 38),
        HEVCSample(
            name: "10 bits, HDR",
            options:
                "qp=30:keyint=6:hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:"
                + "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):"
                + "max-cll=1000,400:hash=1",
            frames: 12, bitDepth: 10),
        HEVCSample(
            name: "VUI",
            options:
                "crf=30:vbv-maxrate=500:vbv-bufsize=500:sar=5:overscan=crop:videoformat=pal:range=full:colorprim=bt709:transfer=bt709:"
                + "colormatrix=bt709:chromaloc=2:display-window=2,4,6,8:high-tier=0:level-idc=3.1",
            frames: 6),
    ]

    /// Streams with HRD parameters at 25 frames/s. At a constant rate, x265 writes no buffer model that Annex C could
    /// check.
    static let rates = [
        HEVCSample(
            name: "VBR, open GOP",
            options:
                "hrd=1:bitrate=100:vbv-maxrate=250:vbv-bufsize=120:keyint=30:bframes=3:b-pyramid=1:open-gop=1",
            frames: 100),
        HEVCSample(
            name: "VBR, I and P",
            options: "hrd=1:bitrate=300:vbv-maxrate=400:vbv-bufsize=200:keyint=25:bframes=0", frames: 60),
        HEVCSample(
            name: "VBR, pyramid",
            options: "hrd=1:bitrate=90:vbv-maxrate=200:vbv-bufsize=100:keyint=40:bframes=7:b-pyramid=1:open-gop=0",
            frames: 100),
        HEVCSample(
            name: "VBR at a quality",
            options: "hrd=1:crf=24:vbv-maxrate=150:vbv-bufsize=300:keyint=20:bframes=3:open-gop=1:aud=1", frames: 80),
    ]
}

extension HEVCStream {
    /// Returns the stream's bytes without the given access units.
    func removing(_ dropped: Set<Int>, from bytes: [UInt8]) -> [UInt8] {
        frames.filter { !dropped.contains($0.index) }.flatMap { Array(bytes[byteRange($0)]) }
    }

    func byteRange(_ frame: HEVCFrame) -> Range<Int> {
        let start = nalUnits[frame.nalUnits.lowerBound].offset
        return start..<(start + frame.byteCount)
    }
}
