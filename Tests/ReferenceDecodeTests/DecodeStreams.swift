import TestOracles

/// Streams that x264 and x265 make from a real clip; each has a tool that a decoder must support.
struct DecodeStreams {
    struct Stream {
        var name: String
        var codec: StreamCodec
        var bitDepth = 8
        /// The filters before the encoder, and the encoder's own options.
        var filter = "null"
        var options: String

        var file: String { "\(name).\(codec.fileExtension)" }
    }

    struct Failure: Error {
        var description: String
    }

    static let frameCount = 16

    static let all: [Stream] =
        [
            ("pyramid", "bframes=3:b-pyramid=normal:ref=4:weightp=2:weightb=1:keyint=12"),
            ("slices", "slices=4:bframes=2"),
            ("cavlc", "cabac=0:bframes=2:ref=3"),
            ("matrices", "cqm=jvt:8x8dct=1:bframes=2"),
            ("mbaff", "interlaced=1:bframes=2:ref=3:weightb=1"),
            ("constrained", "constrained-intra=1:bframes=0"),
            ("open", "open-gop=1:keyint=8:bframes=3"),
            ("refresh", "intra-refresh=1:bframes=0:keyint=10"),
            ("temporal", "direct=temporal:bframes=3:b-adapt=0"),
            ("fullsize", "bframes=3:ref=16:keyint=64"),
        ].map { Stream(name: $0.0, codec: .h264, options: $0.1) }
        + [
            ("pyramid", "bframes=4:b-pyramid=1:ref=4:weightp=1:weightb=1:keyint=12"),
            ("open", "open-gop=1:keyint=8:bframes=3"),
            ("slices", "slices=3:wpp=1:ctu=16:min-cu-size=8"),
            ("tools", "wpp=0:amp=1:rect=1:tskip=1:sao=1:strong-intra-smoothing=1:limit-sao=0"),
            ("bare", "sao=0:deblock=false:wpp=0:signhide=0:ctu=32:no-temporal-mvp=1"),
            ("matrices", "scaling-list=default"),
            ("lossless", "lossless=1"),
            ("constrained", "constrained-intra=1:bframes=0:ctu=16"),
        ].map { Stream(name: $0.0, codec: .hevc, options: "log-level=none:" + $0.1) }
        + [
            Stream(name: "odd", codec: .h264, filter: "crop=150:98", options: "bframes=2"),
            Stream(name: "odd", codec: .hevc, filter: "crop=150:98", options: "log-level=none:bframes=2"),
            Stream(name: "ten", codec: .hevc, bitDepth: 10, options: "log-level=none:bframes=3:weightb=1"),
        ]

    /// Writes all streams into `folder` with one run of ffmpeg.
    static func write(into folder: String) throws {
        var arguments = ["-v", "error", "-nostdin", "-i", try Fixture.carphone.path()]
        for stream in all {
            let library = stream.codec == .h264 ? "x264" : "x265"
            arguments += [
                "-map", "0:v", "-frames:v", "\(frameCount)", "-vf", stream.filter,
                "-pix_fmt", stream.bitDepth > 8 ? "yuv420p10le" : "yuv420p", "-c:v", "lib\(library)", "-preset", "fast",
                "-\(library)-params", stream.options, "\(folder)/\(stream.file)",
            ]
        }
        let result = try ProcessRunner.run("ffmpeg", arguments)
        guard result.status == 0 else { throw Failure(description: result.errors) }
    }
}

/// Arguments for ffmpeg to decode on the driver into planes at the file's own depth.
enum DeviceDecoding {
    static func arguments(_ input: String, bitDepth: Int = 8, output: [String]) -> [String] {
        let (device, plain) = bitDepth > 8 ? ("p010", "yuv420p10le") : ("nv12", "yuv420p")
        return [
            "-nostdin", "-v", "error", "-init_hw_device", "vaapi=va:,connection_type=x11", "-hwaccel", "vaapi",
            "-hwaccel_output_format", "vaapi", "-i", input, "-vf", "hwdownload,format=\(device),format=\(plain)",
            "-fps_mode", "passthrough",
        ] + output
    }

    /// Returns the words as a line of a shell script.
    static func line(_ words: [String]) -> String { words.map { "'\($0)'" }.joined(separator: " ") }
}
