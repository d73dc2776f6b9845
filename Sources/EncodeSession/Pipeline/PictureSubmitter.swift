import EncodePlanning
import H264Syntax
import VAAPI
import VideoBase

/// Turns a plan into VA buffers and hands the picture to the device.
struct PictureSubmitter: Sendable {
    private let writer: PictureWriter
    private var numbering: H264Numbering
    private var clock: PictureClock.Counter

    /// - Parameter picturesSinceBuffering: of the stream so far.
    init(
        _ settings: EncodeSettings, _ headers: StreamHeaders, _ objects: DeviceObjects, picturesSinceBuffering: Int = 0
    ) {
        clock = PictureClock.Counter(sinceBuffering: picturesSinceBuffering)
        writer = PictureWriter(settings, headers, objects)
        numbering = H264Numbering(
            references: headers.sps.max_num_ref_frames, longTermReferences: settings.structure.longTermReferences,
            log2_max_frame_num: headers.sps.log2_max_frame_num,
            log2_max_pic_order_cnt_lsb: headers.sps.log2_max_pic_order_cnt_lsb)
    }

    /// Numbers the picture and hands it to the device.
    mutating func submit(
        _ plan: FramePlan, _ frame: TakenFrame, _ decision: RateSession.Decision, into output: CodedBuffer
    ) throws -> InFlightPicture {
        let numbers = numbering.number(plan)
        let clock = self.clock.next(plan, reorderDepth: writer.headers.reorderDepth)
        let encode = { @Sendable [writer] (decision: RateSession.Decision) throws -> SubmittedPicture in
            try writer.encode(plan, numbers, clock, frame, decision, into: output)
        }
        return InFlightPicture(
            plan: plan, frame: frame, submitted: try encode(decision), clock: clock,
            nal_ref_idc: numbers.nal_ref_idc, qp: decision.isDriversChoice ? nil : decision.qp,
            encodeAgain: { qp in
                var other = decision
                other.qp = qp
                return try encode(other)
            })
    }
}

/// Writes the buffers of pictures whose numbers are known.
private final class PictureWriter: Sendable {
    private let settings: EncodeSettings
    let headers: StreamHeaders
    private let objects: DeviceObjects

    init(_ settings: EncodeSettings, _ headers: StreamHeaders, _ objects: DeviceObjects) {
        self.settings = settings
        self.headers = headers
        self.objects = objects
    }

    /// Buffers in the order that drivers know from other clients: sequence, settings, picture, headers, slices.
    func encode(
        _ plan: FramePlan, _ numbers: H264PictureNumbers, _ clock: PictureClock, _ frame: TakenFrame,
        _ decision: RateSession.Decision, into output: CodedBuffer
    ) throws -> SubmittedPicture {
        var picture = Picture(begin: objects.context, on: frame.surface, frame: frame.index)
        if plan.type == .idr { try picture.render(H264SequenceParameters(headers, settings)) }
        let parameters = decision.parameters + MiscParameters.list(plan, frame.options, settings)
        for parameters in parameters { try picture.render(parameters) }
        try picture.render(
            H264PictureParameters(
                plan, numbers, pps: headers.pps, reconstructions: objects.reconstructions, output: output))
        try renderHeaders(headers.leading(plan, frame.options, clock), plan, into: &picture)
        try renderSlices(plan, numbers, qp: decision.qp, into: &picture)
        return try picture.end(into: output)
    }

    /// What the driver does not take is put in after the encode.
    private func renderHeaders(_ leading: LeadingUnits, _ plan: FramePlan, into picture: inout Picture) throws {
        let information = leading.information.map { [$0] } ?? []
        let delimiter = leading.delimiter.map { [$0] } ?? []
        // Drivers know parameter sets at IDR pictures alone.
        if plan.type.isKey, objects.packed.contains(.sequence) {
            try picture.render(PackedHeader(.sequence, units: delimiter + leading.parameterSets))
            if !information.isEmpty, objects.packed.contains(.rawData) {
                try picture.render(PackedHeader(.rawData, units: information))
            }
        } else if leading.parameterSets.isEmpty, !leading.units.isEmpty, objects.packed.contains(.rawData) {
            try picture.render(PackedHeader(.rawData, units: delimiter + information))
        }
    }

    private func renderSlices(
        _ plan: FramePlan, _ numbers: H264PictureNumbers, qp: Int, into picture: inout Picture
    ) throws {
        let width = settings.widthInMacroblocks
        for (index, row) in settings.sliceRows.enumerated() {
            let end =
                index + 1 < settings.sliceRows.count ? settings.sliceRows[index + 1] : settings.heightInMacroblocks
            let header = SliceHeader(
                plan, numbers, firstMacroblock: row * width, qp: qp, deblocking: settings.deblocking)
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
