import TestOracles

extension VirtualScreen {
    /// Like run, with libva pointed at the driver just built.
    static func runOnDriver(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 120
    ) throws -> ProcessRunner.Result {
        var variables = Checkout.driverEnvironment
        variables["LIBVA_MESSAGING_LEVEL"] = "0"
        variables["XDG_RUNTIME_DIR"] = "/tmp"
        variables["VAENC_REFERENCE_RECON"] = .some(nil)
        variables["VAENC_REFERENCE_MODE"] = .some(nil)
        variables["VAENC_REFERENCE_PERSONALITY"] = .some(nil)
        for (name, value) in environment { variables[name] = value }
        return try run(program, arguments, environment: variables, timeout: timeout)
    }
}

/// A stream that a program made on the driver, its input, and what the driver reconstructed.
struct ForeignStream {
    var bytes: [UInt8]
    var reconstruction: Reconstruction
    /// The least luma PSNR of a frame against the input, in output order.
    var worstPSNR: Double

    /// Encodes FFmpeg's test pattern with h264_vaapi.
    static func ffmpeg(
        _ width: Int, _ height: Int, frames: Int = 12, options: [String], environment: [String: String?] = [:]
    ) throws -> ForeignStream {
        try Files.withTemporaryFolder { folder in
            let input = try pattern(width, height, frames, in: folder)
            let result = try VirtualScreen.runOnDriver(
                "ffmpeg",
                [
                    "-hide_banner", "-loglevel", "warning", "-nostdin", "-init_hw_device",
                    "vaapi=va:,connection_type=x11",
                    "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "\(width)x\(height)", "-r", "30", "-i", input,
                    "-vf", "format=nv12,hwupload", "-c:v", "h264_vaapi", "-bf", "0",
                ] + (options.contains("-rc_mode") ? [] : ["-qp", "24"]) + options
                    + ["-f", "h264", folder + "/out.h264"],
                environment: environment.merging(["VAENC_REFERENCE_RECON": folder + "/recon.yuv"]) { given, _ in given }
            )
            return try ForeignStream(result, folder, input, width, height)
        }
    }

    /// Encodes the same pattern with GStreamer's vaapih264enc. rawvideoparse wants widths of whole words: multiples of 8.
    ///
    /// The element has five coded buffers. Out of them it waits until one is free, and looks once more: woken for one
    /// that it has taken in the meantime, it finds none and fails, at times to hang at its end
    /// (gst_vaapi_encoder_create_coded_buffer of 1.22). It says so in its log. Then it is run again; with a driver that
    /// gives it no buffers it fails every time.
    static func gstreamer(_ width: Int, _ height: Int, frames: Int = 12, options: [String]) throws -> ForeignStream {
        for _ in 0..<9 {
            if let stream = try gstreamerOnce(width, height, frames, options) { return stream }
        }
        throw Failure(description: "GStreamer allocates no coded buffer")
    }

    /// nil where GStreamer missed a free coded buffer.
    private static func gstreamerOnce(
        _ width: Int, _ height: Int, _ frames: Int, _ options: [String]
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
            let input = try pattern(width, height, frames, in: folder)
            let result = try VirtualScreen.runOnDriver(
                "sh",
                [
                    "-c", script, "sh",
                    "gst-launch-1.0", "-q", "filesrc", "location=\(input)", "!", "rawvideoparse", "format=i420",
                    "width=\(width)", "height=\(height)", "framerate=30/1", "!", "videoconvert", "!",
                    "video/x-raw,format=NV12", "!", "vaapih264enc", "rate-control=cqp", "init-qp=24",
                ] + options
                    + ["!", "filesink", "location=\(folder)/out.h264"],
                environment: [
                    "GST_VAAPI_ALL_DRIVERS": "1", "GST_REGISTRY_FORK": "no",
                    "GST_DEBUG": "vaapi:1", "GST_DEBUG_FILE": folder + "/log",
                    "VAENC_REFERENCE_RECON": folder + "/recon.yuv",
                ])
            // Whatever it ended with: what it does next, from errors to failed assertions, follows from that.
            let log = Files.exists(folder + "/log") ? try Files.read(folder + "/log") : []
            if String(decoding: log, as: UTF8.self).contains(missed) { return nil }
            return try ForeignStream(result, folder, input, width, height)
        }
    }

    /// What the ffmpeg program shows of the stream.
    func decodedByFFmpeg() throws -> [PlanarFrame] {
        try Files.withTemporaryFolder { folder in
            try Files.write(bytes, to: folder + "/in.h264")
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-hide_banner", "-loglevel", "error", "-nostdin", "-xerror", "-f", "h264", "-i", folder + "/in.h264",
                    "-vsync", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo", folder + "/out.yuv",
                ])
            guard result.status == 0, result.errors.isEmpty, let first = reconstruction.frames.first else {
                throw Failure(description: "ffmpeg: \(result.errors)")
            }
            return PlanarFrame.split(
                try Files.read(folder + "/out.yuv"), width: first.width, height: first.height) ?? []
        }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static func pattern(_ width: Int, _ height: Int, _ frames: Int, in folder: String) throws -> String {
        let path = folder + "/input.yuv"
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i",
                "testsrc2=s=\(width)x\(height):r=30", "-frames:v", "\(frames)", "-pix_fmt", "yuv420p", "-f", "rawvideo",
                path,
            ])
        guard result.status == 0 else { throw Failure(description: result.errors) }
        return path
    }

    private init(
        _ result: ProcessRunner.Result, _ folder: String, _ input: String, _ width: Int, _ height: Int
    ) throws {
        guard result.status == 0 else { throw Failure(description: "status \(result.status): \(result.errors)") }
        bytes = try Files.read(folder + "/out.h264")
        guard Files.exists(folder + "/recon.yuv") else {
            worstPSNR = 0
            reconstruction = try Reconstruction(frames: [], text: "")
            return
        }
        // 4:2:0 crops by two: an odd size is coded without its last column or row, as the program chose.
        let coded = (width & ~1, height & ~1)
        reconstruction = try Reconstruction(path: folder + "/recon.yuv", width: coded.0, height: coded.1)
        let frames = PlanarFrame.split(try Files.read(input), width: width, height: height) ?? []
        worstPSNR =
            zip(frames, reconstruction.framesInOutputOrder).map {
                PSNR.luma($0.cropped(x: 0, y: 0, width: coded.0, height: coded.1), $1)
            }.min() ?? 0
    }
}
