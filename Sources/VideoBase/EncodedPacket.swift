/// How a picture was coded.
public enum PictureType: String, Sendable, Hashable, Codable {
    /// An instantaneous decoding refresh: decoding can start here.
    case idr
    case i
    case p
    case b

    public var isKey: Bool { self == .idr }
}

/// One access unit as the encoder gives it out, in decoding order.
public struct EncodedPacket: Sendable {
    /// NAL units in Annex B form, each behind a start code; a key frame's begin with the parameter sets.
    public var bytes: [UInt8] {
        didSet { knownUnitRanges = nil }
    }
    /// The ranges of the NAL units in `bytes`, without start codes; nil if nobody has looked for them. Whoever has scanned
    /// the bytes stores them here, so that no sink scans them again. Setting `bytes` clears them.
    package var knownUnitRanges: [Range<Int>]?
    /// The codec of `bytes`.
    public var codec: VideoCodec
    public var type: PictureType
    /// An IDR picture: nothing from here on needs what came before.
    public var isKey: Bool { type.isKey }
    /// Decoding can begin here: an IDR picture, or an I picture (in HEVC a CRA picture) that nothing shown after it reaches
    /// over. What is coded after such an I picture and shown before it may need what came before, and is then left out.
    public var isRandomAccess: Bool
    public var presentation: MediaTime
    public var decode: MediaTime
    public var duration: MediaTime?
    /// Position in input order, counted from 0 over the session's life.
    public var displayIndex: Int
    /// Position in decoding order, counted from 0 over the session's life.
    public var codingIndex: Int
    /// The picture's QP where the encoder set one for the picture (CQP); nil where the device chose.
    public var qp: Int?
    public var temporalLayer: Int
    /// Later pictures may predict from this one.
    public var isReference = true
    /// Decoding that starts here shows right pictures from here on or after `recoveryFrameCount` frames (an I picture
    /// of an open GOP, the start of an intra refresh); nil elsewhere.
    public var recoveryFrameCount: Int?
    /// To hand back in `FrameOptions.acknowledgedTokens` once the receiver has the packet; nil where the picture is
    /// not a long-term reference: *RequireLTRAcknowledgementToken*.
    public var acknowledgementToken: Int?
    /// Which of the session's formats the packet is of, counted from 0: it grows with each swap of size or codec.
    public var formatIndex = 0
    /// The first packet of another format than the one before: a key frame with new parameter sets, which decoders that
    /// are not fed the byte stream, and files, must be told of.
    public var changesFormat = false
    /// Nanoseconds from the frame's `encode` call to the packet's delivery.
    public var latencyNanoseconds: Int64

    public init(
        codec: VideoCodec, bytes: [UInt8], type: PictureType, presentation: MediaTime, decode: MediaTime, duration: MediaTime? = nil,
        displayIndex: Int, codingIndex: Int, qp: Int? = nil, temporalLayer: Int = 0, latencyNanoseconds: Int64 = 0
    ) {
        self.codec = codec
        self.bytes = bytes
        self.type = type
        isRandomAccess = type.isKey
        self.presentation = presentation
        self.decode = decode
        self.duration = duration
        self.displayIndex = displayIndex
        self.codingIndex = codingIndex
        self.qp = qp
        self.temporalLayer = temporalLayer
        self.latencyNanoseconds = latencyNanoseconds
    }
}
