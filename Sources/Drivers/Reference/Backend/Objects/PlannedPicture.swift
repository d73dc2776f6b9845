/// A picture that passed all checks: what to encode, and what stands around it in the stream.
struct PlannedPicture: Sendable {
    var encode: EncodeWork
    /// 16×16 areas.
    var columns: Int
    var rows: Int
    /// NAL units before and after the slices, with their start codes.
    var leading: [[UInt8]]
    var trailing: [[UInt8]]
    /// What QPs are differences to in slice headers.
    var initialQP: Int
    /// Added to the QP of each 16×16 area, in raster order.
    var qpDeltas: [Int]?
    /// Bytes of a slice; 0: no limit.
    var maximumSliceBytes: Int
    /// Nil where the client gives the QPs.
    var rate: RatedPicture?
    /// Each area's QP follows what it shows.
    var adaptsMacroblocks = false
    /// What that adds, once it is known.
    var activity: [Int]?
    /// No slices: only what stands around them.
    var isSkipped: Bool
    /// Bits above which the coded buffer's status says so; 0 for no limit.
    var maximumFrameBits: Int
    var record: PictureRecord
}

extension PlannedPicture {
    /// What to encode at the slices' QPs, or at `qp` in all of them.
    func orders(qp: Int?) -> EncodePassParameters {
        EncodePassParameters(
            qp: qp, columns: columns, activity: activity,
            qpLimits: rate.map { $0.settings.minimumQP...$0.settings.maximumQP } ?? 0...51, qpDeltas: qpDeltas,
            maximumSliceBytes: maximumSliceBytes)
    }
}

/// What VAENC_REFERENCE_RECON says of a picture.
struct PictureRecord: Sendable {
    /// `IDR`, `I`, `P` or `B`.
    var type: String
    var pictureOrderCount: Int
    /// The visible part, in luma samples.
    var crop: CroppedArea
}

/// Frame cropping in luma samples.
struct CroppedArea: Sendable, Equatable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
}
