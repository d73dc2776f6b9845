/// A picture that passed all checks: what to encode, and what stands around it in the stream.
struct PlannedPicture: Sendable {
    var encode: PictureJob
    /// NAL units before and after the slices, with their start codes.
    var leading: [[UInt8]]
    var trailing: [[UInt8]]
    /// Mean slice QP.
    var averageQP: Int
    /// Bits above which the coded buffer's status says so; 0 for no limit.
    var maximumFrameBits: Int
    var record: PictureRecord
}

/// What VAENC_REFERENCE_RECON says of a picture.
struct PictureRecord: Sendable {
    /// `IDR`, `I`, `P` or `B`.
    var type: String
    var pictureOrderCount: Int
    var qp: Int
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
