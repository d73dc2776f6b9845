import CLibAV
import DecodeDamageDetection
import NALUnits
import VideoBase

/// Appends `SliceSentinel` to the slices of packets, so that a truncated slice is detected by its missing samples.
///
/// H.264 slices with variable-length coding end with their bytes, and get no sentinel.
struct SliceSentinels {
    private let codec: VideoCodec
    /// The size of the length prefix; nil for byte streams.
    private let lengthSize: LengthSize?
    /// The pic_parameter_set_id values of the sets with entropy_coding_mode_flag (H.264 7.3.2.2).
    private var arithmetic: Set<Int> = []

    /// Creates sentinels for a stream. Returns nil for codecs other than H.264 and HEVC, and for a broken record.
    ///
    /// - Parameter extradata: The record or the parameter sets that the decoder is opened with. It may be empty.
    init?(_ id: AVCodecID, extradata: [UInt8]) {
        guard let codec = VideoCodec(libavcodecID: id) else { return nil }
        self.codec = codec
        guard Self.isRecord(extradata, codec) else {
            lengthSize = nil
            for unit in AnnexB.units(in: extradata.span) { note(extradata[unit]) }
            return
        }
        guard let record = try? DecoderConfiguration(record: extradata, codec: codec) else { return nil }
        lengthSize = record.lengthSize
        for unit in record.units { note(unit[...]) }
    }

    /// Whether libavcodec reads these bytes as a decoder configuration record, not as parameter sets.
    private static func isRecord(_ extradata: [UInt8], _ codec: VideoCodec) -> Bool {
        switch codec {
        case .h264: extradata.first == 1
        case .hevc: extradata.count > 22 && (extradata[0] != 0 || extradata[1] != 0 || extradata[2] > 1)
        }
    }

    private mutating func note(_ unit: ArraySlice<UInt8>) {
        switch codec {
        case .h264: noteEntropyCoder(unit)
        // Every slice has arithmetic coding.
        case .hevc: break
        }
    }

    /// Records entropy_coding_mode_flag of an H.264 picture parameter set.
    private mutating func noteEntropyCoder(_ unit: ArraySlice<UInt8>) {
        guard NALUnitKind(of: unit, codec) == .pictureParameterSet else { return }
        var bits = UnescapedBits(unit.dropFirst().prefix(16))
        let id = bits.ue()
        bits.ue()  // seq_parameter_set_id
        let isArithmetic = bits.flag()
        if bits.isExhausted { return }
        if isArithmetic { arithmetic.insert(id) } else { arithmetic.remove(id) }
    }

    private func takesSentinel(_ unit: ArraySlice<UInt8>) -> Bool {
        guard unit.count > 2, NALUnitKind(of: unit, codec) == .slice else { return false }
        switch codec {
        case .h264: return isArithmetic(unit)
        case .hevc: return true
        }
    }

    /// Whether an H.264 slice has arithmetic coding. Slices with data partitions never have it.
    private func isArithmetic(_ unit: ArraySlice<UInt8>) -> Bool {
        guard let first = unit.first, [1, 5].contains(first & 31) else { return false }
        // Reads first_mb_in_slice, slice_type and pic_parameter_set_id.
        var bits = UnescapedBits(unit.dropFirst().prefix(24))
        bits.ue()
        bits.ue()
        let id = bits.ue()
        return !bits.isExhausted && arithmetic.contains(id)
    }

    /// Inserts sentinels into a packet's bytes. A packet with unexpected framing stays unchanged.
    mutating func extend(_ packet: UnsafeMutablePointer<AVPacket>, _ av: UnsafePointer<VaencLibAV>) {
        // SAFETY: `size` is the number of bytes that the packet owns.
        let bytes = unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
        let units: [Range<Int>]
        if let lengthSize {
            guard let found = try? LengthPrefixed.units(in: bytes.span, lengthSize: lengthSize) else { return }
            units = found
        } else {
            units = AnnexB.units(in: bytes.span)
        }
        let sentinel = codec.sliceSentinel
        var result: [UInt8] = []
        var copied = 0
        for range in units {
            note(bytes[range])
            guard takesSentinel(bytes[range]) else { continue }
            let length = range.count + sentinel.count
            if let lengthSize {
                guard length <= lengthSize.longest else { continue }
                result += bytes[copied..<range.lowerBound - lengthSize.rawValue]
                for byte in (0..<lengthSize.rawValue).reversed() { result.append(UInt8(truncatingIfNeeded: length >> (8 * byte))) }
                copied = range.lowerBound
            }
            result += bytes[copied..<range.upperBound]
            result += sentinel
            copied = range.upperBound
        }
        if copied == 0 { return }
        result += bytes[copied...]
        guard unsafe av.pointee.av_grow_packet!(packet, Int32(clamping: result.count - bytes.count)) >= 0 else { return }
        unsafe result.withUnsafeBytes {
            unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: $0.count).copyMemory(from: $0)
        }
    }
}

extension VideoCodec {
    /// The sentinel that is appended to a slice of the codec.
    fileprivate var sliceSentinel: [UInt8] {
        switch self {
        case .h264: SliceSentinel.forH264
        case .hevc: SliceSentinel.forHEVC
        }
    }
}
