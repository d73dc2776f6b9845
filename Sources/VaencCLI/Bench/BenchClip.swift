import Glibc
import MediaFiles
import Vaenc

/// An input that was converted to raw NV12 in a file, so that encoder times include no demuxing or decoding.
struct BenchClip: Sendable {
    /// The name of the file, and the size if it was scaled.
    var name: String
    let path: String
    let size: VideoSize
    let frameRate: Rational
    let frameCount: Int
    /// The color of the input. The raw file does not have it.
    let color: ColorDescription
    let resources: BenchResources

    /// The number of frames in a GOP of five seconds, which is the session's default.
    var gop: Int { max(1, Int((frameRate.value * 5).rounded())) }

    var arguments: [String] {
        [
            path, "--input-size", "\(size.width)x\(size.height)", "--input-format", "nv12", "--fps", frameRate.description,
            "--gop", String(gop),
        ]
    }

    /// The description for the report.
    var facts: BenchReport.Clip {
        BenchReport.Clip(
            input: name, width: size.width, height: size.height, frameRate: "\(frameRate.numerator)/\(frameRate.denominator)", frames: frameCount)
    }

    /// Converts an input.
    ///
    /// - Parameters:
    ///   - size: The size to scale to; nil for the input's own.
    ///   - limit: Without `size`, an input of a larger area is scaled to an even size of about this area.
    init(_ input: String, frames: Int, size: VideoSize?, fitting limit: VideoSize? = nil, resources: BenchResources) throws {
        self.resources = resources
        let source = try Self.open(input, frames: frames, size: size, fitting: limit)
        defer { source.close() }
        let visible = source.info.size
        // The rate of a test pattern may be a fraction.
        let lastName = input.hasPrefix("testsrc:") ? nil : input.split(separator: "/").last.map(String.init)
        name =
            FileName.printable(lastName ?? input)
            + (visible == source.info.nativeSize ? "" : " at \(visible)")
        path = resources.clip
        self.size = VideoSize(width: visible.width & ~1, height: visible.height & ~1)
        frameRate = source.info.frameRate
        color = source.info.color
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

    /// Opens an input that is a file or a test pattern.
    private static func open(_ input: String, frames: Int, size: VideoSize?, fitting limit: VideoSize?) throws -> any FrameSource {
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
        guard size == nil, let limit, let smaller = scaled(source.info.size, to: limit) else { return source }
        source.close()
        options.outputSize = smaller
        return try MediaInput.open(input, options: options)
    }

    /// Returns a size of the same aspect ratio with even sides and about the area of `limit`; nil if that is not
    /// smaller.
    private static func scaled(_ size: VideoSize, to limit: VideoSize) -> VideoSize? {
        let (width, height) = (Double(size.width), Double(size.height))
        let factor = (Double(limit.width) * Double(limit.height) / max(width * height, 1)).squareRoot()
        guard factor < 0.95 else { return nil }
        func side(_ length: Double) -> Int {
            let half: Double = min(length * factor / 2, 32_768).rounded()
            return max(Int(half), 8) * 2
        }
        return VideoSize(width: side(width), height: side(height))
    }

    /// Encodes the clip in a separate process, into the folder's stream.
    func encode(_ contender: Contender, qp: Int) throws -> ChildResult {
        let child = try ChildProcess.run(
            contender.command(self, qp), environment: contender.environment, output: resources.stream, resources: resources)
        guard child.exitStatus == 0 else {
            // If vaenc lacks something, the benchmark lacks it too.
            let isLack = contender.path != "ffmpeg" && child.exitStatus == ErrorCategory.unavailable.exitStatus
            throw VaencError(
                isLack ? .unavailable : .deviceFailed,
                "\(contender.encoder) at QP \(qp) exited with status \(child.exitStatus) (\(child.lastMessage))",
                remedy: contender.path == "ffmpeg" ? "leave FFmpeg out with --no-ffmpeg" : "try vaenc encode with the same options")
        }
        return child
    }

    /// Returns the average bit rate of a stream of the clip.
    func bitrate(_ bytes: Int) -> Int { Int((Double(bytes) * 8 * frameRate.value / Double(frameCount)).rounded()) }

    /// Encodes the clip in a separate process and measures the quality of the decoded stream.
    func run(_ contender: Contender, qp: Int) throws -> BenchReport.Run {
        let child = try encode(contender, qp: qp)
        let frames = Double(frameCount)
        let quality = try quality(of: resources.stream, encoder: contender.encoder)
        return BenchReport.Run(
            path: contender.path, encoder: contender.encoder, codec: contender.codec.rawValue, input: name, rate: "qp \(qp)", qp: qp,
            fps: rounded(frames / child.wallSeconds), cpuMsPerFrame: rounded(child.cpuSeconds * 1000 / frames),
            firstPacketMs: rounded((child.firstByteSeconds ?? 0) * 1000), peakKB: child.peakKilobytes, bytes: child.bytes,
            bitrate: bitrate(child.bytes),
            psnr: Nullable(quality?.psnr.map(rounded)),
            ssim: Nullable(quality.map { ($0.ssim * 1e6).rounded() / 1e6 }))
    }

    /// Returns the luma PSNR in dB (nil if all frames are equal) and the luma SSIM, over all frames. Returns nil if the
    /// size of the decoded stream differs.
    private func quality(of stream: String, encoder: String) throws -> (psnr: Double?, ssim: Double)? {
        let original = try openOriginal()
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

    /// Opens the raw frames.
    func openOriginal() throws -> any FrameSource {
        var options = SourceOptions()
        options.inputSize = size
        options.inputFormat = .nv12
        return try MediaInput.open(path, options: options)
    }
}
