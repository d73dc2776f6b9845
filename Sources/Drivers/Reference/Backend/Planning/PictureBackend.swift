internal import CVA

/// The part of a codec in vaEndPicture: it checks a client's buffers and makes the encoder's job. The caller must hold
/// the display's monitor.
protocol PictureBackend {
    /// The slices of a picture, and the parameters that they share.
    associatedtype Slices

    /// Checks that the buffers of a picture agree with each other and with the stream so far, and updates `stream`.
    /// Checks the reference surfaces, but no other surfaces.
    func check(_ picture: EncodePicture, _ stream: inout StreamState) throws -> CheckedPicture<Slices>

    /// Returns the NAL units of slices with minimal data (VAENC_REFERENCE_MODE=null).
    func nullSlices(_ picture: CheckedPicture<Slices>) -> [[UInt8]]

    /// Returns the encoder's input for the slices.
    func work(_ picture: CheckedPicture<Slices>, _ surfaces: PictureSurfaces, _ options: PictureOptions) -> EncodeWork
}

/// A picture that passed all checks of its buffers.
struct CheckedPicture<Slices> {
    var slices: Slices
    /// The NAL units before and after the slices.
    var units: StreamUnits
    var codedBuffer: VABufferID
    /// The surface for the reconstruction; nil if the client marks it as invalid.
    var destination: VASurfaceID?
    /// The surfaces in the reference lists of the slices, each once.
    var references: [Surface]
    /// Whether any slice is a P or B slice.
    var isInter: Bool
    /// The QP that slice_qp_delta refers to: 26 + init_qp_minus26 (pic_init_qp_minus26 in H.264).
    var initialQP: Int
    var averageQP: Int
    /// The rate controller's input; nil if the rate control mode is CQP.
    var rate: RatedPicture?
    var record: PictureRecord
}

/// The surfaces of a picture.
struct PictureSurfaces {
    /// The render target, which contains the picture to encode.
    var target: Surface
    /// The memory of `target`.
    var memory: HostMemory
    /// The surface for the reconstruction.
    var destination: Surface
}

/// The options of a picture from misc parameters, except for QPs.
struct PictureOptions {
    /// The quality level: 1 (best) to 7 (fastest).
    var quality: Int
    var intraRefresh: IntraRefresh?
    var trellis: Trellis
}
