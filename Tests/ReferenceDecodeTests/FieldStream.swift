import TestOracles

/// Field pictures, which no available encoder writes. The stream has frames of half the height, CAVLC with P pictures
/// only, whose pictures are marked as top and bottom fields in turn. Its content is arbitrary, but the same for all
/// decoders.
enum FieldStream {
    /// x264's parameters for such a stream.
    static let options = "cabac=0:bframes=0:ref=1:weightp=0:8x8dct=0:keyint=60:scenecut=0"

    /// Rewrites an Annex B stream of frames.
    static func rewritten(_ stream: [UInt8]) -> [UInt8] {
        var frameNumberBits = 4
        var pictures = 0
        return AnnexBUnits.split(stream).reduce(into: []) { result, unit in
            let header = unit[3]
            var source = Bits(unit.dropFirst(4))
            var bits = Bits([])
            switch header & 31 {
            case 7:
                // Reads up to log2_max_frame_num, for profiles with and without a chroma format.
                let profile = source.take(8)
                _ = source.take(16)
                _ = source.unsigned()
                if profile >= 100 {
                    for _ in 0..<3 { _ = source.unsigned() }
                    _ = source.take(2)
                }
                frameNumberBits = source.unsigned() + 4
                // pic_order_cnt_type 2, references, gaps, width, and the height in map units, which now counts fields.
                _ = source.unsigned()
                _ = source.unsigned()
                _ = source.take(1)
                for _ in 0..<2 { _ = source.unsigned() }
                bits.values = Array(source.values[..<source.position]) + [false, false]
                _ = source.take(1)
            case 1, 5:
                // Reads first_mb_in_slice, slice_type and pic_parameter_set_id.
                for _ in 0..<3 { _ = source.unsigned() }
                bits.values = Array(source.values[..<source.position])
                _ = source.take(frameNumberBits)
                let number = pictures / 2 % (1 << frameNumberBits)
                bits.values += (0..<frameNumberBits).reversed().map { number >> $0 & 1 == 1 } + [true, pictures % 2 == 1]
                pictures += 1
            default:
                if header & 31 == 8 { result += [0] + unit }
                return
            }
            bits.values += source.values[source.position...]
            result += [0, 0, 0, 1, header] + bits.escaped
        }
    }

    /// An RBSP as bits, without its stop bit.
    private struct Bits {
        var values: [Bool]
        var position = 0

        init(_ payload: ArraySlice<UInt8>) {
            var zeros = 0
            values = []
            for byte in payload {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                values += (0..<8).reversed().map { byte >> UInt8($0) & 1 == 1 }
            }
            if let stop = values.lastIndex(of: true) { values.removeSubrange(stop...) }
        }

        mutating func take(_ count: Int) -> Int {
            defer { position += count }
            return values[position..<position + count].reduce(0) { 2 * $0 + ($1 ? 1 : 0) }
        }

        mutating func unsigned() -> Int {
            var zeros = 0
            while !values[position + zeros] { zeros += 1 }
            position += zeros
            return take(zeros + 1) - 1
        }

        /// The bytes with a stop bit and emulation prevention.
        var escaped: [UInt8] {
            var all = values + [true]
            while all.count % 8 != 0 { all.append(false) }
            var result: [UInt8] = []
            var zeros = 0
            for start in stride(from: 0, to: all.count, by: 8) {
                let byte = all[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
                if zeros >= 2, byte <= 3 {
                    result.append(3)
                    zeros = 0
                }
                zeros = byte == 0 ? zeros + 1 : 0
                result.append(byte)
            }
            return result
        }
    }
}
