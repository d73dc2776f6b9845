internal import CVA

/// What a codec makes of what a client rendered. Used with the display's monitor held.
protocol PictureBackend {
    /// The slices of a picture for its job, with the parameters that all of them share.
    associatedtype Slices

    /// A picture whose buffers agree with each other and with what the stream said so far, which it changes. Of
    /// surfaces only references are looked at.
    func check(_ picture: EncodePicture, _ stream: inout StreamState) throws -> CheckedPicture<Slices>

    /// VAENC_REFERENCE_MODE=null: the NAL units of slices in which hardly anything is coded.
    func nullSlices(_ picture: CheckedPicture<Slices>) -> [[UInt8]]

    /// The job that encodes the slices.
    func work(_ picture: CheckedPicture<Slices>, _ surfaces: PictureSurfaces, _ options: PictureOptions) -> EncodeWork
}

/// A picture that passed all checks of its buffers.
struct CheckedPicture<Slices> {
    var slices: Slices
    /// What stands around them in the stream.
    var units: StreamUnits
    var codedBuffer: VABufferID
    /// Where the reconstruction goes; nil where the client marks that as no picture.
    var destination: VASurfaceID?
    /// In the lists of the slices.
    var references: [Surface]
    /// A slice predicts from other pictures.
    var isInter: Bool
    /// What QPs are differences to in slice headers.
    var initialQP: Int
    var averageQP: Int
    /// Nil at constant QPs.
    var rate: RatedPicture?
    var record: PictureRecord
}

/// What a picture is encoded from and to.
struct PictureSurfaces {
    /// The client's picture, and its memory.
    var target: Surface
    var memory: HostMemory
    /// Where the reconstruction goes.
    var destination: Surface
}

/// What misc parameters ask of a picture, beyond QPs.
struct PictureOptions {
    /// 1 best … 7 fastest.
    var quality: Int
    var intraRefresh: IntraRefresh?
    var trellis: Trellis
}
