/// One run of `vaenc encode --device reference`, and everything that judges need of it.
public struct EncodedStream: Sendable {
    /// Annex B.
    public var stream: [UInt8]
    public var codec: StreamCodec
    public var reconstruction: Reconstruction
    public var result: ProcessRunner.Result

    public struct Failure: Error, CustomStringConvertible {
        public var description: String
        /// vaenc's exit status.
        public var status: Int
    }

    /// What `--json` printed; nil where it was not asked for.
    public var report: JSONValue? { JSONValue(result.output) }

    /// Encodes a raw I420 file of whole frames on the reference driver of the build folder. Pictures of HEVC carry their
    /// MD5 hashes.
    ///
    /// - Parameters:
    ///   - codec: what `options` make of it.
    ///   - bitDepth: of the file's samples and of the coded ones; of more than 8 bits two bytes each.
    ///   - personality: VAENC_REFERENCE_PERSONALITY; nil: unrestricted.
    /// - Throws: `Failure` where vaenc does not end with status 0.
    public init(
        raw: String, width: Int, height: Int, codec: StreamCodec = .h264, bitDepth: Int = 8, options: [String],
        personality: String? = nil, timeout: Double = 300
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
                    "VAENC_REFERENCE_HASH": codec == .hevc ? "md5" : nil,
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

    /// What a session in this process made.
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

    /// Encodes frames of one size.
    public init(_ frames: [PlanarFrame], codec: StreamCodec = .h264, options: [String]) throws {
        self = try Files.withTemporaryFolder { folder in
            try Files.write(frames.flatMap(\.bytes), to: folder + "/in.yuv")
            return try EncodedStream(
                raw: folder + "/in.yuv", width: frames[0].width, height: frames[0].height, codec: codec,
                bitDepth: frames[0].bitDepth, options: options)
        }
    }

    /// What is wrong with the stream, by the judges: both foreign decoders accept it without a message and give
    /// `frameCount` pictures, which are the driver's reconstruction byte for byte. Empty where nothing is.
    ///
    /// - Parameter blockSize: of the blocks that a message counts: macroblocks or coding tree blocks.
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

    /// openh264 is a decoder of Baseline that took on B pictures late: it shows some of x264's wrong as well. And
    /// version 2.6 shows other pictures than 2.3 and libavcodec once there are long-term references.
    private var isForOpenH264: Bool {
        !marksLongTerm && !reconstruction.pictures.contains { $0.type.uppercased() == "B" }
    }

    /// The lowest luma PSNR of a decoded picture against its source.
    public func lowestPSNR(against source: [PlanarFrame]) -> Double {
        zip(reconstruction.framesInOutputOrder, source).map { PSNR.luma($0, $1) }.min() ?? 0
    }

    /// The NAL units of each picture, by a slice with first_mb_in_slice 0 or first_slice_segment_in_pic_flag: their
    /// types, slices only.
    public var sliceTypesByPicture: [[Int]] {
        var pictures: [[Int]] = []
        // The header's bytes, and the first of the slice.
        let first = codec == .h264 ? 4 : 5
        for i in stream.indices.dropLast(5) where stream[i] == 0 && stream[i + 1] == 0 && stream[i + 2] == 1 {
            let type = Int(codec == .h264 ? stream[i + 3] & 31 : stream[i + 3] >> 1 & 63)
            guard codec == .h264 ? type == 1 || type == 5 : type < 32 else { continue }
            if stream[i + first] & 0x80 != 0 || pictures.isEmpty { pictures.append([]) }
            pictures[pictures.count - 1].append(type)
        }
        return pictures
    }
}
