import BitstreamInspection
import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Follows an input's stream beside its decoder, which conceals pictures that are missing between two packets and says nothing.
struct LossWatch {
    private var follower: any StreamFollower
    private let codec: VideoCodec
    /// nil for a byte stream.
    private var lengthSize: LengthSize?
    /// A stream may begin in the middle of a picture.
    private var hasBegun = false
    /// Pictures that follow a key picture and refer to what was before it, where decoding begins: decoders leave them out
    /// without a word.
    private var undecodable = 0

    /// nil for other codecs than H.264 and HEVC.
    init?(_ parameters: AVCodecParameters) {
        guard let codec = unsafe VideoCodec(libavcodecID: parameters.codec_id) else { return nil }
        self.codec = codec
        follower =
            switch codec {
            case .h264: H264Follower()
            case .hevc: HEVCFollower()
            }
        // SAFETY: the record, or the parameter sets, have so many bytes.
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

    /// What was lost before a packet, or of it; nil where nothing is, or nothing is known of it.
    mutating func loss(in packet: UnsafePointer<AVPacket>, _ av: UnsafePointer<VaencLibAV>) -> String? {
        var size = 0
        if let sets = unsafe av.pointee.av_packet_get_side_data!(packet, AV_PKT_DATA_NEW_EXTRADATA, &size) {
            // SAFETY: side data of so many bytes.
            begin(with: unsafe Array(UnsafeBufferPointer(start: sets, count: size)))
        }
        // SAFETY: a packet has so many bytes.
        let bytes = unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
        var units = StartCodes.units(in: bytes)
        if let lengthSize {
            // What is not framed so is the decoder's to judge.
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
                hasBegun = true
                switch codec {
                // libavcodec gives none that is shown before the first key picture.
                case .h264: if picture.isLeading, !picture.isSecondField { undecodable += 1 }
                case .hevc: break
                }
            case .missingReference: if hasBegun { loss = loss ?? "pictures that later ones refer to are missing" }
            case .damaged: if hasBegun { loss = loss ?? "slices are missing or broken" }
            case .beforeStart:
                switch codec {
                case .h264: break
                case .hevc: if hasBegun { undecodable += 1 }
                }
            // Decoders tell of those.
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

    /// How many pictures since the last call cannot be decoded, for they lead the first.
    mutating func takeUndecodable() -> Int {
        defer { undecodable = 0 }
        return undecodable
    }
}
