/// Measures rate control on fades, flashes, cuts and black, and compares it with x264 without look-ahead. The criterion
/// is the worst picture at the same rate and buffer.
public struct HardContent: Sendable {
    /// The clip's name in scripts/make-rate-clips.sh.
    public let name: String
    private let path: String

    /// The rate control mode.
    public enum Mode: String, Sendable, CaseIterable {
        case cbr, vbr, qvbr, avbr
    }

    /// The measurements of one encode.
    public struct Result: Sendable, CustomStringConvertible {
        /// The luma PSNR of each frame in display order, in dB, at most 99.
        public var psnr: [Double]
        /// The bit rate of the stream at 25 frames per second.
        public var bitsPerSecond: Double

        /// The lowest PSNR of a frame.
        public var worst: Double { psnr.min() ?? 0 }
        /// The average PSNR.
        public var mean: Double { psnr.reduce(0, +) / Double(max(psnr.count, 1)) }
        public var description: String {
            "\(Int(bitsPerSecond / 1000)) kbit/s, mean \(mean), worst \(worst) at frame \(psnr.firstIndex(of: worst) ?? 0)"
        }
    }

    /// A program that failed, or a stream without pictures.
    public struct Failure: Error, CustomStringConvertible {
        /// The program with its error text, or the name of the clip.
        public var description: String
    }

    /// Returns the clips with these names. Makes them if they are missing.
    ///
    /// - Throws: `Failure` if the script fails.
    public static func clips(_ names: [String], size: String) throws -> [HardContent] {
        let folder = "\(Fixture.folder)/rate-\(size)"
        for fixture in Fixture.allCases { _ = try fixture.path() }
        if names.contains(where: { (Files.size("\(folder)/\($0).y4m") ?? 0) == 0 }) {
            try run(Checkout.root + "/scripts/make-rate-clips.sh", [Fixture.folder, folder, size] + names)
        }
        return names.map { HardContent(name: $0, path: "\(folder)/\($0).y4m") }
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> ProcessRunner.Result {
        let result = try ProcessRunner.run(program, arguments, timeout: 600)
        guard result.status == 0 else { throw Failure(description: "\(program) failed: \(result.errors)") }
        return result
    }

    /// Encodes with x264 as a live encoder of the same structure: no look-ahead, two B pictures, a key frame every five
    /// seconds.
    ///
    /// - Parameter kilobits: The bit rate in kbit/s.
    public func x264(_ mode: Mode, kilobits: Int) throws -> Result {
        var options = "keyint=125:min-keyint=125:scenecut=0:rc-lookahead=0:mbtree=0:sync-lookahead=0:b-adapt=0:bframes=2"
        let most = kilobits * 3 / 2
        let limit = ["-maxrate", "\(most)k", "-bufsize", "\(most)k"]
        var rate = ["-b:v", "\(kilobits)k"]
        switch mode {
        case .cbr:
            options += ":nal-hrd=cbr"
            rate += ["-maxrate", "\(kilobits)k", "-bufsize", "\(kilobits)k"]
        case .vbr, .qvbr: rate += limit
        case .avbr: break
        }
        let arguments =
            ["-v", "error", "-nostdin", "-i", path, "-c:v", "libx264", "-preset", "veryfast", "-threads", "1"] + rate
            + ["-x264-params", options, "-f", "h264", "-y"]
        return try measured(.h264) { try Self.run("ffmpeg", arguments + [$0]) }
    }

    /// Encodes with vaenc on the reference driver.
    ///
    /// - Parameters:
    ///   - kilobits: The bit rate in kbit/s.
    ///   - controller: The value of `--rate-controller`.
    public func vaenc(_ mode: Mode, kilobits: Int, controller: String, codec: StreamCodec) throws -> Result {
        let most = kilobits * 3 / 2
        var options = [
            "--device", "reference", "--codec", codec.rawValue, "--rate-control", mode.rawValue, "--bitrate", "\(kilobits)k",
            "--rate-controller", controller, "--gop", "125", "--bframes", "2",
        ]
        switch mode {
        case .cbr: options += ["--vbv-size", "\(kilobits)k"]
        case .vbr: options += ["--max-bitrate", "\(most)k", "--vbv-size", "\(most)k"]
        // A quality that is unreachable at the given rate.
        case .qvbr: options += ["--max-bitrate", "\(most)k", "--vbv-size", "\(most)k", "--quality", "10"]
        case .avbr: break
        }
        return try measured(codec) {
            try Self.run(Checkout.vaenc, ["encode", path] + options + ["--strict", "--overwrite", "-o", $0])
        }
    }

    private func measured(_ codec: StreamCodec, _ encode: (_ output: String) throws -> Void) throws -> Result {
        try Files.withTemporaryFolder { folder in
            let stream = "\(folder)/out.\(codec.fileExtension)"
            try encode(stream)
            let statistics = "\(folder)/psnr.txt"
            let clocks = "[0:v]settb=1/25,setpts=N[a];[1:v]settb=1/25,setpts=N[b]"
            try Self.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", stream, "-i", path, "-lavfi",
                    "\(clocks);[a][b]psnr=stats_file=\(statistics)", "-f", "null", "-",
                ])
            let text = String(decoding: try Files.read(statistics), as: UTF8.self)
            let psnr = text.split(separator: "\n").compactMap { line -> Double? in
                line.split(separator: " ").first { $0.hasPrefix("psnr_y:") }
                    .flatMap { Double($0.dropFirst(7)) }.map { min($0, 99) }
            }
            guard !psnr.isEmpty, let bytes = Files.size(stream) else { throw Failure(description: "no pictures of \(name)") }
            return Result(psnr: psnr, bitsPerSecond: Double(bytes) * 8 * 25 / Double(psnr.count))
        }
    }
}
