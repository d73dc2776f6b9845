extension CraftedHEVC {
    /// Big-endian bits.
    struct Bits {
        private(set) var bytes: [UInt8] = []
        private var free = 0

        mutating func put(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() {
                if free == 0 {
                    bytes.append(0)
                    free = 8
                }
                free -= 1
                if value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 1 << UInt8(free) }
            }
        }

        mutating func flag(_ value: Bool) { put(value ? 1 : 0, 1) }

        mutating func ue(_ value: Int) {
            let length = Int.bitWidth - (value + 1).leadingZeroBitCount
            put(0, length - 1)
            put(value + 1, length)
        }

        mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }

        mutating func trailing() {
            put(1, 1)
            put(0, free)
        }
    }
}
