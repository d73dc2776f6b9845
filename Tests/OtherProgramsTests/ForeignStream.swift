import Synchronization
import TestOracles

/// A stream that a program encoded on the driver, its input, and the driver's reconstruction.
struct ForeignStream {
    var codec: StreamCodec
    var bytes: [UInt8]
    var reconstruction: Reconstruction
    /// The lowest PSNR of a frame against the input, in output order: of luma, and of chroma.
    var worstPSNR: Double
    var worstChromaPSNR: Double

    /// Encodes FFmpeg's test pattern with h264_vaapi or hevc_vaapi.
    ///
    /// - Parameter shown: the displayed size, if it differs from the pattern's.
    static func ffmpeg(
        _ width: Int, _ height: Int, codec: StreamCodec = .h264, bitDepth: Int = 8, frames: Int = 12,
        options: [String], environment: [String: String?] = [:], shown: (width: Int, height: Int)? = nil
    ) throws -> ForeignStream {
        try Files.withTemporaryFolder { folder in
            let input = try Pattern(width, height, bitDepth, frames, in: folder)
            let result = try VirtualScreen.runOnDriver(
                "ffmpeg",
                [
                    "-hide_banner", "-loglevel", "warning", "-nostdin", "-init_hw_device",
                    "vaapi=va:,connection_type=x11",
                    "-f", "rawvideo", "-pix_fmt", input.format, "-s", "\(width)x\(height)", "-r", "30",
                    "-i", input.path, "-vf", "format=\(bitDepth > 8 ? "p010" : "nv12"),hwupload",
                    "-c:v", "\(codec)_vaapi", "-bf", "0",
                ] + (options.contains("-rc_mode") ? [] : ["-qp", "24"]) + options
                    + ["-f", codec.format, folder + "/out"],
                environment: environment.merging(["VAENC_REFERENCE_RECON": folder + "/recon.yuv"]) { given, _ in given }
            )
            return try ForeignStream(codec, result, folder, input, shown: shown)
        }
    }

    /// Encodes the same pattern with GStreamer's vaapih264enc or vaapih265enc. rawvideoparse requires widths that are
    /// multiples of 8 (whole words).
    ///
    /// The element has five coded buffers. If all are in use, it waits until one is free, and looks again. If it is
    /// woken for a buffer that it has taken in the meantime, it finds none and fails, and sometimes hangs at its end
    /// (gst_vaapi_encoder_create_coded_buffer of 1.22). Its log reports this, and then it is run again. With a driver
    /// that returns no buffers, it fails every time.
    static func gstreamer(
        _ width: Int, _ height: Int, codec: StreamCodec = .h264, bitDepth: Int = 8, frames: Int = 12,
        options: [String], environment: [String: String?] = [:]
    ) throws -> ForeignStream {
        for _ in 0..<9 {
            if let stream = try gstreamerOnce(width, height, codec, bitDepth, frames, options, environment) {
                return stream
            }
        }
        throw Failure(description: "GStreamer allocates no coded buffer")
    }

    /// Returns nil if GStreamer missed a free coded buffer.
    private static func gstreamerOnce(
        _ width: Int, _ height: Int, _ codec: StreamCodec, _ bitDepth: Int, _ frames: Int, _ options: [String],
        _ environment: [String: String?]
    ) throws -> ForeignStream? {
        let missed = "failed to allocate coded buffer"
        let script = """
            missed() { grep -qs '\(missed)' "$GST_DEBUG_FILE"; }
            "$@" &
            until missed || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
            if missed; then kill -KILL $! 2>/dev/null; fi
            wait $!
            """
        return try Files.withTemporaryFolder { folder in
            let input = try Pattern(width, height, bitDepth, frames, in: folder)
            let result = try VirtualScreen.runOnDriver(
                "sh",
                [
                    "-c", script, "sh",
                    "gst-launch-1.0", "-q", "filesrc", "location=\(input.path)", "!", "rawvideoparse",
                    "format=\(bitDepth > 8 ? "i420-10le" : "i420")", "width=\(width)", "height=\(height)",
                    "framerate=30/1", "!", "videoconvert", "!",
                    "video/x-raw,format=\(bitDepth > 8 ? "P010_10LE" : "NV12")", "!",
                    "vaapi\(codec.fileExtension)enc", "rate-control=cqp", "init-qp=24",
                ] + options
                    + ["!", "filesink", "location=\(folder)/out"],
                environment: try GStreamer.environment(in: folder).merging(
                    [
                        "GST_DEBUG": "vaapi:1", "GST_DEBUG_FILE": folder + "/log",
                        "VAENC_REFERENCE_RECON": folder + "/recon.yuv",
                    ].merging(environment) { _, given in given }
                ) { _, given in given })
            // This applies to any exit status: the errors and failed assertions that follow result from the
            // missed buffer.
            let log = Files.exists(folder + "/log") ? try Files.read(folder + "/log") : []
            if String(decoding: log, as: UTF8.self).contains(missed) { return nil }
            return try ForeignStream(codec, result, folder, input)
        }
    }

    /// Encodes the same pattern with vah264enc or vah265enc of GStreamer's plugin va, which needs a render node. The
    /// plugin writes general_profile_idc 1 for Main 10, and relies on what drivers tolerate.
    static func gstreamerVA(
        _ width: Int, _ height: Int, codec: StreamCodec = .h264, bitDepth: Int = 8, frames: Int = 12,
        options: [String]
    ) throws -> ForeignStream {
        try Files.withTemporaryFolder { folder in
            let input = try Pattern(width, height, bitDepth, frames, in: folder)
            let result = try RenderNode.runOnDriver(
                "gst-launch-1.0",
                [
                    "-q", "filesrc", "location=\(input.path)", "!", "rawvideoparse",
                    "format=\(bitDepth > 8 ? "i420-10le" : "i420")", "width=\(width)", "height=\(height)",
                    "framerate=30/1", "!", "videoconvert", "!",
                    "video/x-raw,format=\(bitDepth > 8 ? "P010_10LE" : "NV12")", "!", "va\(codec.fileExtension)enc",
                ] + (options.contains { $0.hasPrefix("rate-control=") } ? [] : ["rate-control=cqp", "qpi=24", "qpp=24", "qpb=24"])
                    + options + ["!", "filesink", "location=\(folder)/out"],
                environment: try GStreamer.environment(in: folder).merging([
                    "VAENC_REFERENCE_STRICT": nil, "VAENC_REFERENCE_RECON": folder + "/recon.yuv",
                ]) { _, given in given })
            return try ForeignStream(codec, result, folder, input)
        }
    }

    /// Returns what the ffmpeg program shows of the stream.
    func decodedByFFmpeg() throws -> [PlanarFrame] {
        try Files.withTemporaryFolder { folder in
            guard let first = reconstruction.frames.first else { return [] }
            try Files.write(bytes, to: folder + "/in")
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-hide_banner", "-loglevel", "error", "-nostdin", "-xerror", "-f", codec.format,
                    "-i", folder + "/in", "-vsync", "passthrough", "-f", "rawvideo", folder + "/out.yuv",
                ])
            guard result.status == 0, result.errors.isEmpty else {
                throw Failure(description: "ffmpeg: \(result.errors)")
            }
            return PlanarFrame.split(
                try Files.read(folder + "/out.yuv"), width: first.width, height: first.height,
                bitDepth: first.bitDepth) ?? []
        }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// FFmpeg's test pattern as a file of raw planar frames; with 10 bits, all values occur.
    private struct Pattern {
        var path: String
        var frames: [PlanarFrame]
        var format: String { frames.contains { $0.bitDepth > 8 } ? "yuv420p10le" : "yuv420p" }

        /// The patterns that this process has made: many streams have the same size.
        private static let made = Mutex<[String: [PlanarFrame]]>([:])

        init(_ width: Int, _ height: Int, _ bitDepth: Int, _ count: Int, in folder: String) throws {
            path = folder + "/input.yuv"
            frames = try Self.made.withLock { made in
                let name = "\(width)×\(height), \(bitDepth), \(count)"
                if let frames = made[name] { return frames }
                let frames = try Self.draw(width, height, bitDepth, count)
                made[name] = frames
                return frames
            }
            try Files.write(frames.flatMap(\.bytes), to: path)
        }

        private static func draw(_ width: Int, _ height: Int, _ bitDepth: Int, _ count: Int) throws -> [PlanarFrame] {
            try Files.withTemporaryFolder { folder in
                let result = try ProcessRunner.run(
                    "ffmpeg",
                    [
                        "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i",
                        "testsrc2=s=\((width + 1) & ~1)x\((height + 1) & ~1):r=30,format=yuv420p,"
                            + "crop=\(width):\(height):0:0:exact=1",
                        "-frames:v", "\(count)", "-f", "rawvideo", folder + "/pattern.yuv",
                    ])
                guard result.status == 0 else { throw Failure(description: result.errors) }
                let frames = PlanarFrame.split(try Files.read(folder + "/pattern.yuv"), width: width, height: height) ?? []
                return bitDepth > 8 ? frames.map(\.widenedTo10Bits) : frames
            }
        }
    }

    private init(
        _ codec: StreamCodec, _ result: ProcessRunner.Result, _ folder: String, _ input: Pattern,
        shown: (width: Int, height: Int)? = nil
    ) throws {
        guard result.status == 0, let first = input.frames.first else {
            throw Failure(description: "status \(result.status): \(result.errors)")
        }
        self.codec = codec
        bytes = try Files.read(folder + "/out")
        guard Files.exists(folder + "/recon.yuv") else {
            (worstPSNR, worstChromaPSNR) = (0, 0)
            reconstruction = try Reconstruction(frames: [], text: "")
            return
        }
        // 4:2:0 crops in steps of two: for an odd size, the next column or row is shown as well.
        let shown = shown ?? ((first.width + 1) & ~1, (first.height + 1) & ~1)
        reconstruction = try Reconstruction(
            path: folder + "/recon.yuv", width: shown.width, height: shown.height, bitDepth: first.bitDepth)
        let (width, height) = (first.width & ~1, first.height & ~1)
        let pairs = zip(input.frames, reconstruction.framesInOutputOrder).map {
            ($0.cropped(x: 0, y: 0, width: width, height: height), $1.cropped(x: 0, y: 0, width: width, height: height))
        }
        worstPSNR = pairs.map(PSNR.luma).min() ?? 0
        worstChromaPSNR = pairs.map(PSNR.chroma).min() ?? 0
    }
}
