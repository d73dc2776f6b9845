/// HDR10+ metadata (SMPTE ST 2094-40) in the form of a stream's SEI messages.
public enum HDR10Plus {
    /// Returns a message with one window, nine percentiles and three anchors, written bit by bit, from
    /// itu_t_t35_country_code on. The red component of maxscl is 10000 + `number`.
    public static func message(_ number: Int) -> [UInt8] {
        var bits = HeaderBits()
        func u(_ count: Int, _ value: Int) { bits.put(value, count) }
        for byte in [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04, 0x01] { u(8, byte) }
        u(2, 1)
        u(27, 400)
        u(1, 0)
        for value in [10_000 + number, 20_000, 30_000, 5000] { u(17, value) }
        u(4, 9)
        for (index, percentage) in [1, 5, 10, 25, 50, 75, 90, 95, 99].enumerated() {
            u(7, percentage)
            u(17, index * 1000 + 7)
        }
        u(10, 5)
        u(1, 0)
        u(1, 1)
        u(12, 100)
        u(12, 200)
        u(4, 3)
        for anchor in [300, 600, 900] { u(10, anchor) }
        u(1, 1)
        u(6, 9)
        return bits.bytes
    }

    /// Returns an HEVC Annex B stream with a message before each picture, numbered in coding order. The stream must
    /// have one slice per picture.
    public static func inserted(in stream: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var number = 0
        for unit in units(stream) {
            if unit[unit.startIndex] >> 1 & 63 < 32 {
                result += sei(message(number))
                number += 1
            }
            result += [0, 0, 1] + unit
        }
        return result
    }

    /// Returns a prefix SEI NAL unit (type 39) with user_data_registered_itu_t_t35 (payload type 4), H.265 7.3.5.
    private static func sei(_ payload: [UInt8]) -> [UInt8] {
        precondition(payload.count < 255)
        return HeaderBits.unit(39, [4, UInt8(payload.count)] + payload + [0x80])
    }

    /// Returns the bytes between start codes, without the zeros before a start code.
    private static func units(_ stream: [UInt8]) -> [ArraySlice<UInt8>] {
        var starts: [Int] = []
        var offset = 0
        while offset + 3 <= stream.count {
            if stream[offset] == 0, stream[offset + 1] == 0, stream[offset + 2] == 1 {
                starts.append(offset + 3)
                offset += 3
            } else {
                offset += 1
            }
        }
        return starts.enumerated().map { index, start in
            var end = index + 1 < starts.count ? starts[index + 1] - 3 : stream.count
            while end > start, stream[end - 1] == 0 { end -= 1 }
            return stream[start..<end]
        }
    }
}
