import Glibc
import MediaFiles
import Vaenc

/// An input that was converted to raw NV12 in a file, so that encoder times include no demuxing or decoding.
struct BenchClip: Sendable {
    let name: String
    let path: String
    let size: VideoSize
    let frameRate: Rational
    let frameCount: Int
    private let resources: BenchResources

    /// The number of frames in a GOP of five seconds, which is the session's default.
    var gop: Int { max(1, Int((frameRate.value * 5).rounded())) }

    var arguments: [String] {
        [
            path, "--input-size", "\(size.width)x\(size.height)", "--input-format", "nv12", "--fps", frameRate.description,
            "--gop", String(gop),
        ]
    }

    init(_ input: String, frames: Int, size: VideoSize?, resources: BenchResources) throws {
        self.resources = resources
        var options = SourceOptions()
        options.frameLimit = frames
        options.outputSize = size
        let source: any FrameSource
        do { source = try MediaInput.open(input, options: options) } catch var error as VaencError where error.category == .badInput {
            // The bench has no options for raw frames.
            if error.subject == .pictureLayout {
                error.remedy = "check that the file is complete, or convert raw frames to Y4M"
            }
            throw error
        }
        defer { source.close() }
        let visible = source.info.size
        name = (input.split(separator: "/").last.map(String.init) ?? input) + (visible == source.info.nativeSize ? "" : " at \(visible)")
        path = resources.clip
        self.size = VideoSize(width: visible.width & ~1, height: visible.height & ~1)
        frameRate = source.info.frameRate
        guard self.size == visible else {
            if let size {
                throw VaencError.usage(
                    "--size \(size) has an odd width or height", remedy: "use even numbers, such as \(self.size)")
            }
            throw VaencError(
                .badInput, "\(input) is \(visible), and vaenc bench needs an even width and height",
                remedy: "scale it to an even size with --size")
        }
        let written = path
        let file = try resources.create(path)
        defer { close(file) }
        let buffer = try SystemPixelBuffer(format: .nv12, size: visible)
        var count = 0
        // SAFETY: `withUnsafePlanes` keeps the planes mapped during the closure, and rows are only read inside them.
        while try unsafe buffer.withUnsafePlanes({ unsafe try source.readFrame(into: $0) }) != nil {
            try unsafe buffer.withUnsafePlanes { planes in
                for plane in 0..<2 {
                    let rows = PixelFormat.nv12.rows(plane: plane, height: visible.height)
                    let bytes = PixelFormat.nv12.rowBytes(plane: plane, width: visible.width)
                    for row in 0..<rows {
                        let code = unsafe TemporaryFileError.write(
                            UnsafeRawBufferPointer(start: planes.base(plane) + row * planes.pitch(plane), count: bytes), to: file)
                        if code != 0 { throw TemporaryFileError.writing(code, written) }
                    }
                }
            }
            count += 1
        }
        frameCount = count
        guard count > 0 else {
            throw VaencError(
                .badInput, "\(input) has no frames", remedy: "name an input that contains pictures")
        }
    }

    /// Encodes the clip in a separate process and measures the quality of the decoded stream.
    func run(_ contender: Contender, qp: Int) throws -> BenchReport.Run {
        let stream = resources.stream
        let child = try ChildProcess.run(
            contender.command(self, qp), environment: contender.environment, output: stream, resources: resources)
        guard child.exitStatus == 0 else {
            // If vaenc lacks something, the benchmark lacks it too.
            let isLack = contender.path != "ffmpeg" && child.exitStatus == ErrorCategory.unavailable.exitStatus
            throw VaencError(
                isLack ? .unavailable : .deviceFailed,
                "\(contender.encoder) at QP \(qp) exited with status \(child.exitStatus) (\(child.lastMessage))",
                remedy: contender.path == "ffmpeg" ? "leave FFmpeg out with --no-ffmpeg" : "try vaenc encode with the same options")
        }
        let frames = Double(frameCount)
        let quality = try quality(of: stream, encoder: contender.encoder)
        return BenchReport.Run(
            path: contender.path, encoder: contender.encoder, codec: contender.codec.rawValue, input: name, rate: "qp \(qp)",
            fps: rounded(frames / child.wallSeconds), cpuMsPerFrame: rounded(child.cpuSeconds * 1000 / frames),
            firstPacketMs: rounded((child.firstByteSeconds ?? 0) * 1000), peakKB: child.peakKilobytes, bytes: child.bytes,
            bitrate: Int((Double(child.bytes) * 8 * frameRate.value / frames).rounded()),
            psnr: Nullable(quality?.psnr.map(rounded)),
            ssim: Nullable(quality.map { ($0.ssim * 1e6).rounded() / 1e6 }))
    }

    /// Returns the luma PSNR in dB (nil if all frames are equal) and the luma SSIM, over all frames. Returns nil if the
    /// size of the decoded stream differs.
    private func quality(of stream: String, encoder: String) throws -> (psnr: Double?, ssim: Double)? {
        var options = SourceOptions()
        options.inputSize = size
        options.inputFormat = .nv12
        let original = try MediaInput.open(path, options: options)
        let decoded = try MediaInput.open(stream)
        defer {
            original.close()
            decoded.close()
        }
        guard decoded.info.size == size else { return nil }
        let comparison: ClipComparison
        do { comparison = try ClipComparison(original, decoded) } catch let error as VaencError {
            throw VaencError(
                .deviceFailed, "\(encoder): \(error.message) (the clip has \(counted(frameCount, "frame")))",
                remedy: "try vaenc encode with the same options, or leave FFmpeg out with --no-ffmpeg")
        }
        let psnr = comparison.error.psnr(plane: 0)
        return (psnr.isFinite ? psnr : nil, comparison.similarity.ssim(plane: 0))
    }
}
