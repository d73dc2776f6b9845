import EncodePlanning
import H264Syntax
import VAAPI
import VideoBase

/// Turns a plan into VA buffers and hands the picture to the device.
struct PictureSubmitter: Sendable {
    private let settings: EncodeSettings
    private let headers: StreamHeaders
    private let objects: DeviceObjects
    private var numbering: H264Numbering

    init(_ settings: EncodeSettings, _ headers: StreamHeaders, _ objects: DeviceObjects) {
        self.settings = settings
        self.headers = headers
        self.objects = objects
        numbering = H264Numbering(
            references: headers.sps.max_num_ref_frames, log2_max_frame_num: headers.sps.log2_max_frame_num,
            log2_max_pic_order_cnt_lsb: headers.sps.log2_max_pic_order_cnt_lsb)
    }

    /// Buffers in the order that drivers know from other clients: sequence, settings, picture, headers, slices.
    mutating func submit(_ plan: FramePlan, _ frame: TakenFrame, into output: CodedBuffer) throws -> InFlightPicture {
        let numbers = numbering.number(plan)
        var picture = Picture(begin: objects.context, on: frame.surface, frame: plan.displayIndex)
        if plan.type == .idr {
            try picture.render(H264SequenceParameters(headers, settings))
            if let level = settings.qualityLevel { try picture.render(MiscParameters.qualityLevel(level)) }
            try picture.render(MiscParameters.frameRate(settings.frameRate, temporalLayer: 0))
        }
        try picture.render(
            H264PictureParameters(
                plan, numbers, pps: headers.pps, reconstructions: objects.reconstructions, output: output))
        try renderHeaders(plan, into: &picture)
        try renderSlices(plan, numbers, into: &picture)
        return InFlightPicture(
            plan: plan, frame: frame, submitted: try picture.end(into: output), qp: settings.qp(of: plan.type))
    }

    private func renderHeaders(_ plan: FramePlan, into picture: inout Picture) throws {
        var leading: [[UInt8]] = []
        if headers.accessUnitDelimiters { leading.append(AccessUnitDelimiter.unit(for: plan.type.sliceType)) }
        if plan.type.isKey, objects.packed.contains(.sequence) {
            try picture.render(PackedHeader(.sequence, units: leading + [headers.spsUnit, headers.ppsUnit]))
        } else if !leading.isEmpty, !plan.type.isKey, objects.packed.contains(.picture) {
            try picture.render(PackedHeader(.picture, units: leading))
        }
        if plan.codingIndex == 0, objects.packed.contains(.rawData) {
            try picture.render(PackedHeader(.rawData, units: [headers.identifierUnit]))
        }
    }

    private func renderSlices(
        _ plan: FramePlan, _ numbers: H264PictureNumbers, into picture: inout Picture
    ) throws {
        let width = settings.widthInMacroblocks
        for (index, row) in settings.sliceRows.enumerated() {
            let end =
                index + 1 < settings.sliceRows.count ? settings.sliceRows[index + 1] : settings.heightInMacroblocks
            let header = SliceHeader(plan, numbers, firstMacroblock: row * width, qp: settings.qp(of: plan.type))
            if objects.packed.contains(.slice) {
                try picture.render(PackedHeader(header, sps: headers.sps, pps: headers.pps))
            }
            try picture.render(
                H264SliceParameters(
                    header, numbers, pps: headers.pps, macroblocks: (end - row) * width,
                    reconstructions: objects.reconstructions))
        }
    }
}
