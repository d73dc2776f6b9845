/// The stream of one run of `vaenc encode --device reference`, with the data for checking it.
public struct EncodedStream: Sendable {
    /// The Annex B byte stream.
    public var stream: [UInt8]
    /// The codec of the stream.
    public var codec: StreamCodec
    /// The pictures that the reference driver reconstructed.
    public var reconstruction: Reconstruction
    /// The result of the vaenc process.
    public var result: ProcessRunner.Result

    /// A run of vaenc that failed.
    public struct Failure: Error, CustomStringConvertible {
        /// The options, the exit status and the text on stderr.
        public var description: String
        /// vaenc's exit status.
        public var status: Int
    }

    /// The object that `--json` printed; nil without that option.
    public var report: JSONValue? { JSONValue(result.output) }

    /// Encodes a raw I420 file of complete frames with the reference driver of the build folder. Blocks until vaenc ends.
    ///
    /// - Parameters:
    ///   - codec: The codec that `options` select.
    ///   - bitDepth: The bit depth of the file's samples and of the coded samples. If it is above 8, a sample of the
    ///     file has two bytes.
    ///   - personality: VAENC_REFERENCE_PERSONALITY; nil for the unrestricted driver.
    ///   - hasHashes: Whether HEVC pictures contain their MD5 hashes, about 60 bytes each. Without them, the stream has the
    ///     size that users get.
    /// - Throws: `Failure` if vaenc does not exit with status 0.
    public init(
        raw: String, width: Int, height: Int, codec: StreamCodec = .h264, bitDepth: Int = 8, options: [String],
        personality: String? = nil, hasHashes: Bool = true, timeout: Double = 600
    ) throws {
        self = try Files.withTemporaryFolder { folder in
            let output = "\(folder)/out.\(codec.fileExtension)"
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", raw, "--input-size", "\(width)x\(height)", "--input-format",
                    bitDepth > 8 ? "i420p10" : "i420", "--device",
                    "reference",
                ]
                    + options + ["-o", output],
                environment: [
                    "VAENC_REFERENCE_RECON": folder + "/recon.yuv", "VAENC_REFERENCE_PERSONALITY": personality,
                    "VAENC_REFERENCE_HASH": hasHashes ? codec.referenceHash : nil,
                ], timeout: timeout)
            guard result.status == 0 else {
                throw Failure(
                    description: "\(options.joined(separator: " ")): status \(result.status): \(result.errors)",
                    status: result.status)
            }
            return EncodedStream(
                stream: try Files.read(output), codec: codec,
                reconstruction: try Reconstruction(
                    path: folder + "/recon.yuv", width: width, height: height, bitDepth: bitDepth),
                result: result)
        }
    }

    /// Wraps the stream of a session in this process. Its `result` is empty.
    public init(stream: [UInt8], codec: StreamCodec = .h264, reconstruction: Reconstruction) {
        self.init(
            stream: stream, codec: codec, reconstruction: reconstruction,
            result: ProcessRunner.Result(
                status: 0, stdout: [], stderr: [], timedOut: false, wallSeconds: 0, cpuSeconds: 0, peakKB: 0))
    }

    private init(stream: [UInt8], codec: StreamCodec, reconstruction: Reconstruction, result: ProcessRunner.Result) {
        self.stream = stream
        self.codec = codec
        self.reconstruction = reconstruction
        self.result = result
    }

    /// Encodes frames of one size and depth with vaenc.
    public init(_ frames: [PlanarFrame], codec: StreamCodec = .h264, options: [String]) throws {
        self = try Files.withTemporaryFolder { folder in
            try Files.write(frames.flatMap(\.bytes), to: folder + "/in.yuv")
            return try EncodedStream(
                raw: folder + "/in.yuv", width: frames[0].width, height: frames[0].height, codec: codec,
                bitDepth: frames[0].bitDepth, options: options)
        }
    }

    /// Returns the errors that the foreign decoders find; empty if there are none. Each decoder must accept the stream
    /// without a message and return `frameCount` pictures that equal the driver's reconstruction byte for byte.
    ///
    /// - Parameter blockSize: The size of the blocks that a message counts: macroblocks or coding tree blocks.
    public func faults(frameCount: Int, blockSize: Int = 16) -> [String] {
        var faults: [String] = []
        let expected = reconstruction.framesInOutputOrder
        if expected.count != frameCount { faults.append("\(expected.count) pictures reconstructed, not \(frameCount)") }
        for decoder in ForeignDecoder.all(for: codec) where decoder != .openh264 || isForOpenH264 {
            let decoded = decoder.decode(stream, codec: codec)
            if let message = decoded.messages.first {
                faults.append("\(decoder): \(decoded.messages.count) messages, first: \(message)")
            }
            if decoded.frames.count != frameCount {
                faults.append("\(decoder): \(decoded.frames.count) frames, not \(frameCount)")
            }
            for (index, (a, b)) in zip(decoded.frames, expected).enumerated() {
                guard let difference = a.difference(from: b, blockSize: blockSize) else { continue }
                faults.append("\(decoder): picture \(index) is not the reconstruction: \(difference)")
                break
            }
        }
        return faults
    }

    /// Whether openh264 can judge the stream. It was written for Baseline, and decodes some B pictures incorrectly,
    /// x264's too. If a stream has long-term references, version 2.6 outputs other pictures than version 2.3 and
    /// libavcodec.
    private var isForOpenH264: Bool {
        !marksLongTerm && !reconstruction.pictures.contains { $0.type.uppercased() == "B" }
    }

    /// Returns the lowest luma PSNR of a decoded picture against its source.
    public func lowestPSNR(against source: [PlanarFrame]) -> Double {
        zip(reconstruction.framesInOutputOrder, source).map { PSNR.luma($0, $1) }.min() ?? 0
    }

    /// The NAL unit types of each picture's slices. A picture starts with a slice that has first_mb_in_slice 0 or
    /// first_slice_segment_in_pic_flag.
    public var sliceTypesByPicture: [[Int]] {
        var pictures: [[Int]] = []
        // The start code, the NAL unit header, then the first byte of the slice header.
        let first = 3 + codec.unitHeaderSize
        for i in stream.indices.dropLast(5) where stream[i] == 0 && stream[i + 1] == 0 && stream[i + 2] == 1 {
            let type = codec.unitType(stream[i + 3])
            guard codec.isSlice(type: type) else { continue }
            if stream[i + first] & 0x80 != 0 || pictures.isEmpty { pictures.append([]) }
            pictures[pictures.count - 1].append(Int(type))
        }
        return pictures
    }
}
