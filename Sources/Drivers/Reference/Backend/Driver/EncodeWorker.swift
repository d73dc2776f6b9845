internal import CVA

/// Encodes the pictures of a context. Used on the context's thread only.
final class EncodeWorker: @unchecked Sendable {
    private let environment: Environment
    let behavior: DriverBehavior
    let counts: CopyCounts

    private var encoder: CodecEncoder?
    private var controller: RateController?
    private var recording: ReconstructionFile?
    private var isRecordingOpened = false

    init(environment: Environment, behavior: DriverBehavior, counts: CopyCounts) {
        self.environment = environment
        self.behavior = behavior
        self.counts = counts
    }

    /// A coded picture.
    struct CodedPicture {
        /// The NAL units with their start codes.
        var units: [[UInt8]]
        var averageQP: Int
        /// VA_CODED_BUF_STATUS_… flags.
        var flags: UInt32 = 0

        var byteCount: Int { units.reduce(0) { $0 + $1.count } }
    }

    func encode(_ planned: PlannedPicture, room: Int) -> CodedPicture {
        var picture = planned
        if picture.isSkipped {
            return CodedPicture(units: picture.leading + picture.trailing, averageQP: picture.initialQP)
        }
        let known = encoder.flatMap { $0.takes(picture.encode) ? $0 : nil }
        let encoder = known ?? CodecEncoder(picture.encode)
        self.encoder = encoder
        func encodeOnce(qp: Int?) -> (CodedPicture, EncodedSlices) {
            let slices = encoder.encode(picture.encode, picture.passParameters(qp: qp))
            return (self.coded(picture, slices), slices)
        }
        guard let rated = picture.rate else { return encodeOnce(qp: nil).0 }
        if picture.adaptsMacroblocks {
            picture.activity = MacroblockActivity.deltas(
                picture.encode.sourceLuma, columns: picture.columns, rows: picture.rows)
        }
        var controller = self.controller ?? RateController(rated)
        var qp = controller.begin(rated)
        var (coded, slices) = encodeOnce(qp: qp)
        while let next = controller.retry(bits: 8 * coded.byteCount, qp: qp) {
            qp = next
            (coded, slices) = encodeOnce(qp: qp)
        }
        let bytes = coded.byteCount
        if controller.overruns(bits: 8 * bytes) { coded.flags |= UInt32(VA_CODED_BUF_STATUS_BITRATE_OVERFLOW) }
        var filler = controller.fillerBytes(bits: 8 * bytes)
        if filler > 0 {
            // Filler that does not fit the coded buffer is not written. The decoder's buffer overflows then.
            let unit = FillerUnit(picture.encode.codec)
            let bytes = unit.bytes(min(filler, max(room - bytes, unit.minimumBytes)))
            filler = bytes.count
            coded.units.insert(bytes, at: coded.units.count - picture.trailing.count)
        }
        controller.end(
            bits: 8 * bytes, filler: 8 * filler, qp: qp,
            intraShare: slices.intraShare)
        self.controller = controller
        return coded
    }

    private func coded(_ picture: PlannedPicture, _ slices: EncodedSlices) -> CodedPicture {
        let limit = picture.maximumSliceBytes > 0 ? picture.maximumSliceBytes : .max
        return CodedPicture(
            units: picture.leading + slices.units + picture.trailing, averageQP: slices.averageQP,
            flags: slices.units.contains { $0.count > limit } ? UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK) : 0)
    }

    func record(_ picture: PlannedPicture, _ coded: CodedPicture) {
        guard let path = environment.reconstructionPath else { return }
        if !isRecordingOpened {
            isRecordingOpened = true
            recording = ReconstructionFile(path: path)
        }
        recording?.append(
            picture.encode.reconstruction, picture.record, qp: coded.averageQP, codedBytes: coded.byteCount)
    }
}
