import EncodePlanning
import HEVCSyntax
import NALUnits
import VAAPI
import VideoBase

/// The adapter of HEVC.
struct HEVCAdapter: CodecAdapter {
    /// The parts of the stream that do not change from picture to picture.
    final class Stream: Sendable {
        let settings: EncodeSettings
        let headers: HEVCStreamHeaders
        /// The coding tree blocks of each slice.
        let slices: [Range<Int>]

        init(_ settings: EncodeSettings, _ tools: HEVCTools, _ level: Level, _ tier: Tier) {
            self.settings = settings
            headers = HEVCStreamHeaders(settings, tools, level, tier)
            slices = settings.sliceBlocks
        }
    }

    let stream: Stream
    private var references: HEVCReferenceState

    init(_ settings: EncodeSettings, _ tools: HEVCTools, _ level: Level, _ tier: Tier) {
        stream = Stream(settings, tools, level, tier)
        references = HEVCReferenceState(
            longTermReferences: settings.structure.longTermReferences,
            log2_max_pic_order_cnt_lsb: stream.headers.sps.log2_max_pic_order_cnt_lsb)
    }

    var parameterSets: [[UInt8]] { stream.headers.units }

    var sequence: any ParameterBuffer { HEVCSequenceParameters(stream.headers, stream.settings) }

    mutating func number(_ plan: FramePlan) -> any PictureSyntax {
        HEVCPictureSyntax(stream: stream, plan: plan, numbers: references.number(plan))
    }

    func leading(
        _ plan: FramePlan, options: FrameOptions, clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> LeadingUnits {
        stream.headers.leading(plan, options: options, clock: clock, delay: delay)
    }

    /// The VPS is always vaenc's own, because it does not affect how pictures are coded.
    func adopting(_ driverSets: [NALUnitKind: [UInt8]], into sets: [[UInt8]]) -> [[UInt8]] {
        var sets = sets
        if let sps = driverSets[.sequenceParameterSet], sps != stream.headers.units[1] {
            sets[1] = DriverHEVCSequenceParameterSet(unit: sps)?.adopting(stream.headers.sps) ?? sps
        }
        if let pps = driverSets[.pictureParameterSet] { sets[2] = pps }
        return sets
    }
}

/// A picture with its picture order count, reference picture set and lists.
private struct HEVCPictureSyntax: PictureSyntax {
    let stream: HEVCAdapter.Stream
    let plan: FramePlan
    let numbers: HEVCPictureNumbers

    /// HEVC needs no prefix unit: nuh_temporal_id_plus1 signals the sub-layer.
    var prefix: [UInt8]? { nil }

    func renderParameters(_ reconstructions: [Surface], _ output: CodedBuffer, into picture: inout Picture) throws(VAError) {
        try picture.render(
            HEVCPictureParameters(
                plan, numbers: numbers, headers: stream.headers, reconstructions: reconstructions, output: output))
    }

    func renderSlices(qp: Int, _ reconstructions: [Surface], packed: Bool, into picture: inout Picture) throws(VAError) {
        let headers = stream.headers
        for (index, slice) in stream.slices.enumerated() {
            let header = SliceSegmentHeader(
                plan, numbers: numbers, headers: headers, firstBlock: slice.lowerBound, qp: qp)
            if packed { try picture.render(PackedHeader(header, headers)) }
            try picture.render(
                HEVCSliceParameters(
                    header, numbers: numbers, headers: headers, blocks: slice.count,
                    isLast: index + 1 == stream.slices.count, reconstructions: reconstructions))
        }
    }
}
