import CVA
import ReferenceDriver
import TestOracles
import Testing

/// An HEVC stream of the driver, and the samples of its surfaces.
struct HEVCRun {
    /// The coded pictures, in coding order.
    private(set) var pictures: [[UInt8]] = []
    private(set) var statuses: [UInt32] = []
    /// The surfaces' samples by order, which is display order.
    private(set) var shown: [Int: PlanarFrame] = [:]

    var bytes: [UInt8] { pictures.flatMap { $0 } }
    /// The surfaces' samples, in display order.
    var frames: [PlanarFrame] { shown.sorted { $0.key < $1.key }.map(\.value) }

    /// Encodes `plans`; `change` makes the change of the test in their buffers.
    init(
        _ stream: HEVCClient, _ plans: [HEVCClient.Plan], slices: Int = 1,
        _ change: (HEVCClient.Plan, inout HEVCClient.Buffers) throws -> Void = { _, _ in }
    ) throws {
        for plan in plans {
            var buffers = stream.buffers(plan, slices: slices)
            try change(plan, &buffers)
            stream.paint(plan.order)
            try #require(stream.send(buffers) == VA_STATUS_SUCCESS)
            let coded = try #require(stream.client.coded(stream.coded))
            pictures.append(coded.bytes)
            statuses.append(coded.status)
            if coded.bytes.isEmpty { continue }
            let frame = try #require(stream.shown(plan.order))
            shown[plan.order] = frame
        }
    }

    /// Expects the decoders (by default both) to decode the surfaces' samples without messages.
    func judge(
        _ comment: String = "", by decoders: [ForeignDecoder] = ForeignDecoder.all(for: .hevc),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for decoder in decoders {
            let video = decoder.decode(bytes, codec: .hevc)
            #expect(video.messages == [], "\(decoder) \(comment)", sourceLocation: sourceLocation)
            let isSame = video.frames == frames
            #expect(isSame, "\(decoder) \(comment): \(video.frames.count) of \(frames.count)", sourceLocation: sourceLocation)
        }
    }
}
