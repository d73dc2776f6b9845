import TestOracles

/// Field pictures, which no encoder here writes: a stream of frames of half the height, CAVLC with P pictures only, whose
/// pictures are said to be top and bottom fields in turn. What it shows is no matter, and it is for all decoders the same.
enum FieldStream {
    /// x264's parameters for such a stream.
    static let options = "cabac=0:bframes=0:ref=1:weightp=0:8x8dct=0:keyint=60:scenecut=0"

    /// From an Annex B stream of frames.
    static func rewritten(_ stream: [UInt8]) -> [UInt8] {
        var frameNumberBits = 4
        var pictures = 0
        return AnnexBUnits.split(stream).reduce(into: []) { result, unit in
            let header = unit[3]
            var source = Bits(unit.dropFirst(4))
            var bits = Bits([])
            switch header & 31 {
            case 7:
                // To log2_max_frame_num, of the profiles without a chroma format and of those with one.
                let profile = source.take(8)
                _ = source.take(16)
                _ = source.unsigned()
                if profile >= 100 {
                    for _ in 0..<3 { _ = source.unsigned() }
                    _ = source.take(2)
                }
                frameNumberBits = source.unsigned() + 4
                // pic_order_cnt_type 2, references, gaps, width, height in map units: of fields now.
                _ = source.unsigned()
                _ = source.unsigned()
                _ = source.take(1)
                for _ in 0..<2 { _ = source.unsigned() }
                bits.values = Array(source.values[..<source.position]) + [false, false]
                _ = source.take(1)
            case 1, 5:
                // first_mb_in_slice, slice_type, pic_parameter_set_id.
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

        /// Bytes with a stop bit and emulation prevention.
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
