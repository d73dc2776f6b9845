/// The coding type of a picture.
public enum PictureType: String, Sendable, Hashable, Codable {
    /// An instantaneous decoding refresh: decoding can start at this picture.
    case idr
    /// An intra picture that is not an IDR picture.
    case i
    /// A picture that predicts from at most one reference per block.
    case p
    /// A picture that may predict from two references per block.
    case b

    /// Whether the picture is an IDR picture.
    public var isKey: Bool { self == .idr }
}

/// An encoded access unit. Packets are delivered in decoding order.
public struct EncodedPacket: Sendable {
    /// The NAL units in Annex B format, each after a start code. A key frame begins with the parameter sets.
    public var bytes: [UInt8] {
        didSet { knownUnitRanges = nil }
    }
    /// The ranges of the NAL units in `bytes`, without start codes, or nil if they are unknown. Code that has scanned
    /// the bytes stores the ranges here, so that sinks need not scan again. Setting `bytes` clears them.
    package var knownUnitRanges: [Range<Int>]?
    /// The codec of `bytes`.
    public var codec: VideoCodec
    /// The coding type of the picture.
    public var type: PictureType
    /// Whether this is an IDR picture: no later picture depends on an earlier one. Decoding can also begin at other
    /// pictures (`isRandomAccess`). Reports and containers count these as key frames too.
    public var isKey: Bool { type.isKey }
    /// Whether decoding can begin here. This is true for an IDR picture, and for an I picture (in HEVC, a CRA picture)
    /// that no picture after it in output order predicts across.
    ///
    /// Pictures that follow such an I picture in decoding order and precede it in output order may depend on earlier
    /// pictures. A decoder that begins here discards them.
    public var isRandomAccess: Bool
    /// The presentation time.
    public var presentation: MediaTime
    /// The decoding time.
    public var decode: MediaTime
    /// The duration, or nil if it is unknown.
    public var duration: MediaTime?
    /// The index in input order, counted from 0 over the session's life.
    public var displayIndex: Int
    /// The index in decoding order, counted from 0 over the session's life.
    public var codingIndex: Int
    /// The picture's QP if the encoder set one for the picture (CQP), or nil if the device chose it.
    public var qp: Int?
    /// The temporal layer, from 0.
    public var temporalLayer: Int
    /// Whether later pictures may predict from this one.
    public var isReference = true
    /// The number of frames after which decoding that starts here shows correct pictures. It is set for I pictures of
    /// an open GOP and at the start of an intra refresh (which libx265 does not mark), and nil for other pictures.
    public var recoveryFrameCount: Int?
    /// The token to return in `FrameOptions.acknowledgedTokens` when the receiver has the packet:
    /// *RequireLTRAcknowledgementToken*. nil if the picture is not a long-term reference.
    public var acknowledgementToken: Int?
    /// The index of the packet's format, counted from 0. It increases with each change of the size or codec.
    public var formatIndex = 0
    /// Whether the packet is the first in a new format: a key frame with new parameter sets. Files, and decoders that
    /// do not read the byte stream, must receive the new parameter sets.
    public var changesFormat = false
    /// The time from the frame's `encode` call to the packet's delivery.
    public var latency: Duration

    /// Creates a packet. `isRandomAccess` is initially true only for a key frame.
    public init(
        codec: VideoCodec, bytes: [UInt8], type: PictureType, presentation: MediaTime, decode: MediaTime, duration: MediaTime? = nil,
        displayIndex: Int, codingIndex: Int, qp: Int? = nil, temporalLayer: Int = 0, latency: Duration = .zero
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
        self.latency = latency
    }
}
