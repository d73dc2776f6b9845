import ReferenceDisplay
import TestOracles
import VideoBase

@testable import EncodeSession

/// A session on the reference driver or one of its personalities that encodes a real clip and keeps the driver's
/// reconstruction.
final class ClipSession {
    /// The packets and pictures of a session.
    struct Result {
        /// The packets, in coding order.
        var packets: [EncodedPacket]
        /// The driver's reconstructed pictures, by display index.
        var pictures: [PlanarFrame]

        var keys: [Int] { packets.filter(\.isKey).map(\.displayIndex) }
        /// Returns the pictures of these packets, in display order.
        func pictures(of packets: [EncodedPacket]) -> [PlanarFrame] {
            packets.map(\.displayIndex).sorted().map { pictures[$0] }
        }
    }

    static let size = VideoSize(width: 176, height: 144)
    /// The clip: a talking head before a moving landscape.
    static let clip = Swift.Result { try Fixture.carphone.frames(60) }

    let encoder: HardwareEncoder
    let received = Received()
    private let folder: String
    private let source: [PlanarFrame]

    private init(
        _ folder: String, _ source: [PlanarFrame], personality: String?,
        _ change: (inout EncoderConfiguration) -> Void
    ) throws {
        self.folder = folder
        self.source = source
        var configuration = EncoderConfiguration(size: VideoSize(width: source[0].width, height: source[0].height))
        configuration.rate.qp = 28
        change(&configuration)
        var variables = ["VAENC_REFERENCE_RECON": folder + "/recon.yuv"]
        variables["VAENC_REFERENCE_PERSONALITY"] = personality
        encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(variables), configuration: configuration, onPacket: received.handler)
    }

    /// - Parameter body: encodes the frames.
    static func run(
        of source: [PlanarFrame]? = nil, personality: String? = nil,
        _ change: (inout EncoderConfiguration) -> Void, _ body: (ClipSession) throws -> Void
    ) throws -> Result {
        try Files.withTemporaryFolder { folder in
            let session = try ClipSession(folder, try source ?? clip.get(), personality: personality, change)
            try body(session)
            return try session.finish()
        }
    }

    /// Encodes `frames` frames of the clip, or of other pictures, from the frame `first` on.
    static func run(
        frames: Int, of source: [PlanarFrame]? = nil, from first: Int = 0, personality: String? = nil,
        _ change: (inout EncoderConfiguration) -> Void
    ) throws -> Result {
        try run(of: Array((source ?? clip.get())[first...]), personality: personality, change) { session in
            for index in 0..<frames { try session.encode(index) }
        }
    }

    func encode(_ index: Int, _ options: FrameOptions = FrameOptions()) throws {
        let frame = source[index]
        let buffer = try SystemPixelBuffer(format: .i420, size: VideoSize(width: frame.width, height: frame.height))
        // SAFETY: rows of the plane's width, inside its pitch, from an array of the frame's size.
        try unsafe buffer.withUnsafePlanes { planes in
            var position = 0
            for plane in 0..<3 {
                let shift = plane == 0 ? 0 : 1
                for y in 0..<frame.height >> shift {
                    let row = Array(frame.bytes[position..<position + frame.width >> shift])
                    unsafe (planes.base(plane) + y * planes.pitch(plane)).copyMemory(from: row, byteCount: row.count)
                    position += frame.width >> shift
                }
            }
        }
        try encoder.encode(buffer, timing: TestSession.timing(index), options: options)
    }

    private func finish() throws -> Result {
        try encoder.completeFrames(until: nil)
        encoder.invalidate()
        if let error = received.errors.first { throw VaencError(.internalFault, error) }
        let packets = received.packets
        let lines = Files.list(folder).filter { $0.hasSuffix(".txt") }
        guard lines.count == 1 else { throw VaencError(.internalFault, "\(lines.count) reconstructions") }
        let reconstruction = try Reconstruction(
            path: folder + "/" + String(lines[0].dropLast(4)), width: source[0].width, height: source[0].height)
        // For a driver that writes its own parameter sets, an extra picture was encoded first to get them.
        let extra = reconstruction.frames.count - packets.count
        let shown = packets.sorted { $0.displayIndex < $1.displayIndex }
        return Result(packets: packets, pictures: shown.map { reconstruction.frames[extra + $0.codingIndex] })
    }
}
