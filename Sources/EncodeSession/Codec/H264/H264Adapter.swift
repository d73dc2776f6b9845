import EncodePlanning
import H264Syntax
import NALUnits
import VAAPI
import VideoBase

/// The adapter of H.264.
struct H264Adapter: CodecAdapter {
    /// The parts of the stream that do not change from picture to picture.
    final class Stream: Sendable {
        let settings: EncodeSettings
        let headers: H264StreamHeaders
        /// The macroblocks of each slice.
        let slices: [Range<Int>]

        init(_ settings: EncodeSettings, _ tools: H264Tools, _ level: Level) {
            self.settings = settings
            headers = H264StreamHeaders(settings, tools, level)
            slices = settings.sliceBlocks
        }
    }

    let stream: Stream
    private var references: H264ReferenceState

    init(_ settings: EncodeSettings, _ tools: H264Tools, _ level: Level) {
        stream = Stream(settings, tools, level)
        let sps = stream.headers.sps
        references = H264ReferenceState(
            references: sps.max_num_ref_frames, longTermReferences: settings.structure.longTermReferences,
            log2_max_frame_num: sps.log2_max_frame_num, log2_max_pic_order_cnt_lsb: sps.log2_max_pic_order_cnt_lsb)
    }

    var parameterSets: [[UInt8]] { [stream.headers.spsUnit, stream.headers.ppsUnit] }

    var sequence: any ParameterBuffer { H264SequenceParameters(stream.headers, stream.settings) }

    mutating func number(_ plan: FramePlan) -> any PictureSyntax {
        H264PictureSyntax(stream: stream, plan: plan, numbers: references.number(plan))
    }

    func leading(
        _ plan: FramePlan, options: FrameOptions, clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> LeadingUnits {
        stream.headers.leading(plan, options: options, clock: clock, delay: delay)
    }

    func adopting(_ driverSets: [NALUnitKind: [UInt8]], into sets: [[UInt8]]) -> [[UInt8]] {
        var sets = sets
        if let sps = driverSets[.sequenceParameterSet], sps != stream.headers.spsUnit {
            sets[0] = DriverSequenceParameterSet(unit: sps)?.adopting(stream.headers.sps) ?? sps
        }
        if let pps = driverSets[.pictureParameterSet] { sets[1] = pps }
        return sets
    }
}

/// A picture with its frame_num, picture order count, lists and marking.
private struct H264PictureSyntax: PictureSyntax {
    let stream: H264Adapter.Stream
    let plan: FramePlan
    let numbers: H264PictureNumbers

    var prefix: [UInt8]? { stream.headers.prefix(plan, nal_ref_idc: numbers.nal_ref_idc) }

    func renderParameters(_ reconstructions: [Surface], _ output: CodedBuffer, into picture: inout Picture) throws(VAError) {
        try picture.render(
            H264PictureParameters(
                plan, numbers, pps: stream.headers.pps, reconstructions: reconstructions, output: output))
    }

    func renderSlices(qp: Int, _ reconstructions: [Surface], packed: Bool, into picture: inout Picture) throws(VAError) {
        let headers = stream.headers
        for slice in stream.slices {
            let header = SliceHeader(
                plan, numbers, firstMacroblock: slice.lowerBound, qp: qp, deblocking: stream.settings.deblocking)
            if packed { try picture.render(PackedHeader(header, sps: headers.sps, pps: headers.pps)) }
            try picture.render(
                H264SliceParameters(
                    header, numbers, pps: headers.pps, macroblocks: slice.count, reconstructions: reconstructions))
        }
    }
}
