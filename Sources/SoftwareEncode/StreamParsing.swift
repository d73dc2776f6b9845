import NALUnits
import VideoBase

/// The properties of a library's packet, read from its NAL units.
struct PacketKind {
    /// Whether the picture is an IDR picture, which begins a new sequence. Decoding may also start at other intra
    /// pictures and refreshes.
    var isIDR = false
    /// The number of frames after which pictures are complete if decoding starts here: H.264 D.2.8, H.265 D.3.8. 0 for
    /// CRA pictures.
    var recovery: Int?
    /// Whether no other picture predicts from this one.
    var isDisposable = false
    /// The first slice, without its start code.
    private(set) var firstSlice: Range<Int>?

    init(_ bytes: [UInt8], codec: VideoCodec) {
        var hasReference = false
        for range in AnnexB.units(in: bytes.span) where range.count > 2 {
            let header = bytes[range.lowerBound]
            switch codec {
            case .h264:
                let type = header & 31
                if type == 5 { isIDR = true }
                if (1...5).contains(type), header & 0x60 != 0 { hasReference = true }
                if firstSlice == nil, (1...5).contains(type) { firstSlice = range }
                if type == 6 { readSEI(bytes[range].dropFirst(), isSigned: false) }
            case .hevc:
                let type = header >> 1 & 63
                if type == 19 || type == 20 { isIDR = true }
                if type == 21 { recovery = 0 }
                // Odd types below 16 are sub-layer reference pictures, and all types from 16 on are references.
                if firstSlice == nil, type < 32 { firstSlice = range }
                if type < 32, type & 1 == 1 || type >= 16 { hasReference = true }
                if type == 39 { readSEI(bytes[range].dropFirst(2), isSigned: true) }
            }
        }
        isDisposable = !hasReference
    }

    /// Reads the messages of an SEI NAL unit. Type and size are sums of bytes that end with the first byte below 255;
    /// the payload follows.
    private mutating func readSEI(_ unit: ArraySlice<UInt8>, isSigned: Bool) {
        var payload = unit[...]
        func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
            var value = 0
            while let byte = rest.popFirst() {
                value += Int(byte)
                if byte != 255 { return value }
            }
            return nil
        }
        while payload.count > 2 {
            guard let type = number(&payload), let size = number(&payload), size <= payload.count else { return }
            if type == 6 { recovery = Self.exponentialGolomb(payload.prefix(size)).map { isSigned ? ($0 + 1) / 2 : $0 } }
            payload = payload.dropFirst(size)
        }
    }

    /// Reads ue(v), H.264 9.1, at the start of the bytes.
    private static func exponentialGolomb(_ bytes: ArraySlice<UInt8>) -> Int? {
        let bits = bytes.prefix(6).flatMap { byte in (0..<8).map { Int(byte >> (7 - $0)) & 1 } }
        guard let zeros = bits.firstIndex(of: 1), 2 * zeros < bits.count else { return nil }
        return bits[zeros...(2 * zeros)].reduce(0) { $0 << 1 | $1 } - 1
    }
}
