/// A validated picture: the encoder's work, and the NAL units before and after the slices.
struct PlannedPicture: Sendable {
    var encode: EncodeWork
    /// The width of the picture in 16×16 areas.
    var columns: Int
    /// The height of the picture in 16×16 areas.
    var rows: Int
    /// The NAL units before the slices, with start codes.
    var leading: [[UInt8]]
    /// The NAL units after the slices, with start codes.
    var trailing: [[UInt8]]
    /// The QP to which the slice headers' QP deltas are added.
    var initialQP: Int
    /// The QP delta of each 16×16 area, in raster order.
    var qpDeltas: [Int]?
    /// The maximum size of a slice in bytes, or 0 for no limit.
    var maximumSliceBytes: Int
    /// The input of the rate controller, or nil if the client sets the QPs.
    var rate: RatedPicture?
    /// Whether the QP of each area is adapted to its content.
    var adaptsMacroblocks = false
    /// The QP delta of each area from `adaptsMacroblocks`, or nil before it is computed.
    var activity: [Int]?
    /// Whether the picture has no slices, only the NAL units in `leading` and `trailing`.
    var isSkipped: Bool
    /// The size in bits above which the coded buffer's status has an overflow flag, or 0 for no limit.
    var maximumFrameBits: Int
    var record: PictureRecord
}

extension PlannedPicture {
    /// Returns the parameters of an encoding pass.
    ///
    /// - Parameter qp: The QP of all slices, or nil to use the QP of each slice.
    func passParameters(qp: Int?) -> EncodePassParameters {
        EncodePassParameters(
            qp: qp, columns: columns, activity: activity,
            qpLimits: rate.map { $0.settings.minimumQP...$0.settings.maximumQP } ?? 0...51, qpDeltas: qpDeltas,
            maximumSliceBytes: maximumSliceBytes)
    }
}

/// The values of a picture that VAENC_REFERENCE_RECON records.
struct PictureRecord: Sendable {
    /// `IDR`, `I`, `P` or `B`.
    var type: String
    var pictureOrderCount: Int
    /// The visible area, in luma samples.
    var crop: CroppedArea
}

/// The visible area of a picture, in luma samples.
struct CroppedArea: Sendable, Equatable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
}
