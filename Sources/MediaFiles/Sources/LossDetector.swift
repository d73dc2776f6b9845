import BitstreamInspection
import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Detects pictures that are missing between two packets. The decoder of the input conceals them without reporting
/// them.
struct LossDetector {
    private var follower: any StreamFollower
    private let codec: VideoCodec
    /// The size of the length prefix; nil for a byte stream.
    private var lengthSize: LengthSize?
    /// Whether a picture was complete. A stream may begin in the middle of a picture.
    private var hasBegun = false
    /// The number of pictures that follow the first key picture in the stream but refer to pictures before it. Decoders
    /// drop them without reporting it.
    private var undecodable = 0

    /// Creates a detector for a stream. Returns nil for codecs other than H.264 and HEVC.
    init?(_ parameters: AVCodecParameters) {
        guard let codec = unsafe VideoCodec(libavcodecID: parameters.codec_id) else { return nil }
        self.codec = codec
        follower =
            switch codec {
            case .h264: H264Follower()
            case .hevc: HEVCFollower()
            }
        // SAFETY: the parameters own `extradata_size` bytes.
        let extradata = unsafe UnsafeBufferPointer(start: parameters.extradata, count: Int(parameters.extradata_size))
        begin(with: unsafe Array(extradata))
    }

    private mutating func begin(with extradata: [UInt8]) {
        if let record = try? DecoderConfiguration(record: extradata, codec: codec) {
            lengthSize = record.lengthSize
            for unit in record.units { _ = follower.take(unit) }
        } else {
            for unit in StartCodes.units(in: extradata) { _ = follower.take(Array(extradata[unit])) }
        }
    }

    private static let missing = "pictures that later ones refer to are missing"

    /// Returns a description of the loss before a packet or in it; nil if nothing is missing, or if this is unknown.
    mutating func loss(in packet: UnsafePointer<AVPacket>, _ av: UnsafePointer<VaencLibAV>) -> String? {
        var size = 0
        if let sets = unsafe av.pointee.av_packet_get_side_data!(packet, AV_PKT_DATA_NEW_EXTRADATA, &size) {
            // SAFETY: the side data have `size` bytes.
            begin(with: unsafe Array(UnsafeBufferPointer(start: sets, count: size)))
        }
        // SAFETY: the packet's data have `size` bytes.
        let bytes = unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
        var units = StartCodes.units(in: bytes)
        if let lengthSize {
            // If the framing is invalid, the decoder judges the packet.
            guard let found = try? LengthPrefixed.units(in: bytes.span, lengthSize: lengthSize) else { return nil }
            units = found
        }
        var loss: String?
        var (hasSlices, isBroken) = (false, false)
        func end() {
            guard hasSlices else { return }
            let picture = follower.endPicture(isBroken: isBroken)
            (hasSlices, isBroken) = (false, false)
            switch picture.obstacle {
            case nil:
                if picture.followsLoss, hasBegun { loss = loss ?? Self.missing }
                hasBegun = true
                switch codec {
                // libavcodec does not output pictures that are shown before the first key picture.
                case .h264: if picture.isLeading, !picture.isSecondField { undecodable += 1 }
                case .hevc: break
                }
            case .missingReference: if hasBegun { loss = loss ?? Self.missing }
            case .damaged: if hasBegun { loss = loss ?? "slices are missing or broken" }
            case .beforeStart:
                switch codec {
                case .h264: break
                case .hevc: if hasBegun { undecodable += 1 }
                }
            // Decoders report these.
            case .noParameterSets: break
            }
        }
        for range in units {
            switch follower.take(Array(bytes[range])) {
            case .leading: end()
            case .slice(let startsPicture, _):
                if startsPicture { end() }
                hasSlices = true
            case .broken: isBroken = true
            case .trailing, .sequenceEnd, .other: break
            }
        }
        end()
        return loss
    }

    /// Returns the number of pictures since the last call that cannot be decoded because they lead the first key
    /// picture.
    mutating func takeUndecodable() -> Int {
        defer { undecodable = 0 }
        return undecodable
    }
}
