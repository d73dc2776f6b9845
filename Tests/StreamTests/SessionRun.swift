import BitstreamInspection
import EncodeSession
import ReferenceDisplay
import Synchronization
import TestOracles
import VideoBase

/// One session on the reference driver in this process, with all data for checking it.
struct SessionRun {
    /// The request of a session.
    struct Request {
        /// The value of VAENC_REFERENCE_PERSONALITY; nil is the unrestricted driver.
        var personality: String?
        var configuration: EncoderConfiguration
        var source: [PlanarFrame]
        /// Returns the options of a frame from its index and the packets before it.
        var options: @Sendable (Int, [EncodedPacket]) -> FrameOptions = { _, _ in FrameOptions() }
        /// Called with the session before each frame is encoded.
        var before: @Sendable (Int, HardwareEncoder) throws -> Void = { _, _ in }
    }

    var source: [PlanarFrame]
    var encoded: EncodedStream
    var packets: [EncodedPacket]
    var description: EncoderDescription
    /// The highest number of frames that were pending after `encode` had returned.
    var maxPending: Int
    /// The headers as FFmpeg reads them.
    var trace: TraceHeaders
    /// The stream as this project's own reader reads it.
    var inspected: any InspectedStream
    /// The inspected stream as H.264 or HEVC; empty for the other codec.
    var stream: H264Stream { inspected as? H264Stream ?? H264Stream(annexB: []) }
    var hevc: HEVCStream { inspected as? HEVCStream ?? HEVCStream(annexB: []) }
    var codec: StreamCodec { encoded.codec }

    /// - Throws: what the session throws; `VaencError` of category `unavailable` under `strict`.
    init(_ request: Request) throws {
        self = try Files.withTemporaryFolder { try SessionRun(request, folder: $0) }
    }

    private init(_ request: Request, folder: String) throws {
        var environment = ["VAENC_REFERENCE_RECON": folder + "/recon.yuv"]
        environment["VAENC_REFERENCE_PERSONALITY"] = request.personality
        if request.configuration.codec == .hevc { environment["VAENC_REFERENCE_HASH"] = "md5" }
        let box = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(environment), configuration: request.configuration,
            onPacket: box.take)
        source = request.source
        description = try encoder.encoderDescription
        maxPending = 0
        for (index, frame) in request.source.enumerated() {
            try request.before(index, encoder)
            let buffer = try encoder.makePixelBuffer()
            try fill(buffer, with: frame)
            let time = MediaTime(value: Int64(index) * 3000, timescale: 90000)
            try encoder.encode(
                buffer, timing: FrameTiming(presentation: time), options: request.options(index, box.packets))
            maxPending = max(maxPending, encoder.pendingFrameCount)
        }
        try encoder.completeFrames(until: nil)
        encoder.invalidate()
        if let error = box.errors.first { throw VaencError(.internalFault, error) }
        packets = box.packets
        // The driver numbers the files of a process.
        guard let file = Files.list(folder).last(where: { $0.hasPrefix("recon.yuv") && !$0.hasSuffix(".txt") }) else {
            throw VaencError(.internalFault, "the driver wrote no reconstruction")
        }
        var pictures = try Reconstruction(
            path: "\(folder)/\(file)", width: request.source[0].width, height: request.source[0].height,
            bitDepth: request.source[0].bitDepth)
        if let name = request.personality, name.hasPrefix("radeonsi"), pictures.pictures.count == packets.count + 1 {
            // The first picture is the key frame by which the session learns the parameter sets that such a driver
            // writes.
            pictures.pictures.removeFirst()
            pictures.frames.removeFirst()
        }
        let codec: StreamCodec = request.configuration.codec == .hevc ? .hevc : .h264
        let whole = EncodedStream(stream: packets.flatMap(\.bytes), codec: codec, reconstruction: pictures)
        // If a picture exceeds its size limit, it is encoded again, and the driver has reconstructed both.
        encoded = request.configuration.rate.maxFrameBytes == nil ? whole : whole.withoutRepeats
        trace = try TraceHeaders(stream: encoded.stream, codec: codec.format)
        inspected = encoded.inspectedStream
    }

    /// Resolves the request under `strict` and encodes nothing.
    static func checkStrict(_ request: Request) throws {
        var configuration = request.configuration
        configuration.strict = true
        let display = try ReferenceDisplay.open(
            request.personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:])
        _ = try HardwareEncoder(display: display, configuration: configuration) { _ in }
    }

    /// Returns the used value of an option in the effective configuration, or nil if it has no entry.
    func used(_ option: String) -> String? { description.effective.first { $0.option == option }?.used }

    /// Returns the faults that do not depend on the request: those that foreign decoders and the rules find, and
    /// differences between this project's reader and FFmpeg's.
    func faults() -> [String] {
        let count = encoded.reconstruction.pictures.count
        let agreement = codec == .h264 ? HeaderAgreement.faults(stream, trace) : HeaderAgreement.faults(hevc, trace)
        return encoded.faults(frameCount: packets.count) + encoded.violations() + encoded.unhashed() + agreement
            + (count == packets.count ? [] : ["\(packets.count) packets of \(count) pictures"])
    }
}

/// Collects packets and errors.
private final class Received: Sendable {
    private let state = Mutex((packets: [EncodedPacket](), errors: [String]()))

    var packets: [EncodedPacket] { state.withLock { $0.packets } }
    var errors: [String] { state.withLock { $0.errors } }

    var take: PacketHandler {
        { result in
            self.state.withLock { state in
                switch result {
                case .success(let packet): state.packets.append(packet)
                case .failure(let error): state.errors.append("\(error)")
                }
            }
        }
    }
}

/// Writes a frame into a buffer of its size: NV12, or P010 if samples have more than 8 bits.
private func fill(_ buffer: any PixelBuffer, with frame: PlanarFrame) throws {
    // SAFETY: the buffer is the encoder's, as large as the frame, and ours until it is encoded.
    try unsafe buffer.withUnsafePlanes { planes in
        unsafe frame.bytes.withUnsafeBytes { bytes in
            let (width, height, size) = (frame.width, frame.height, frame.bytesPerSample)
            /// Writes a sample; P010 has its samples in the high bits.
            func put(_ sample: Int, _ row: UnsafeMutableRawPointer, _ column: Int) {
                if size == 1 {
                    unsafe row.storeBytes(of: bytes[sample], toByteOffset: column, as: UInt8.self)
                } else {
                    let value = unsafe bytes.load(fromByteOffset: 2 * sample, as: UInt16.self).littleEndian
                    unsafe row.storeBytes(
                        of: (value << UInt16(16 - frame.bitDepth)).littleEndian, toByteOffset: 2 * column,
                        as: UInt16.self)
                }
            }
            for y in 0..<height {
                let row = unsafe planes.base(0) + y * planes.pitch(0)
                if size == 1, let start = bytes.baseAddress {
                    unsafe row.copyMemory(from: start + y * width, byteCount: width)
                } else {
                    for x in 0..<width { unsafe put(y * width + x, row, x) }
                }
            }
            let half = width / 2
            let first = width * height
            let second = first + half * (height / 2)
            for y in 0..<(height / 2) {
                let row = unsafe planes.base(1) + y * planes.pitch(1)
                for x in 0..<half {
                    unsafe put(first + y * half + x, row, 2 * x)
                    unsafe put(second + y * half + x, row, 2 * x + 1)
                }
            }
        }
    }
}
