/// The neighboring samples of an N×N block (N is 4 or 8) in one row, from the bottom left to the top right, and the
/// filtered samples that the directional modes of H.264 8.3.1.2 and 8.3.2.2 use.
///
/// Entry N is the corner above left. Entries N−1…0 go down the left side. Entries N+1…3N go along the top and the top
/// right. Entry −1 repeats entry 0, and the entry after the last one repeats the last one.
package struct IntraEdges {
    /// The size of the storage: space for entries −8…31 in each of the three rows.
    package static let byteCount = 144
    package let samples: ElementPointer<UInt8>
    /// (e[i] + e[i + 1] + 1) >> 1.
    package let averages: ElementPointer<UInt8>
    /// (e[i − 1] + 2·e[i] + e[i + 1] + 2) >> 2.
    package let smooth: ElementPointer<UInt8>

    package init(_ storage: ElementPointer<UInt8>) {
        samples = storage + 8
        averages = storage + 56
        smooth = storage + 104
    }

    /// Computes `averages` and `smooth` from `samples`, for `vectors` groups of 16 entries.
    @inline(__always) package func derive(vectors: Int) {
        for i in 0..<vectors {
            let at: Bytes = samples.load(16 &* i)
            let after: Bytes = samples.load(16 &* i &+ 1)
            let before: Bytes = samples.load(16 &* i &- 1)
            averages.store(16 &* i, at.average(after))
            smooth.store(16 &* i, Self.smoothed(before, at, after))
        }
    }

    /// Returns (a + 2b + c + 2) >> 2, computed as the average of b and the rounded-down average of a and c.
    @inline(__always) static func smoothed(_ a: Bytes, _ b: Bytes, _ c: Bytes) -> Bytes {
        let floor = a.average(c) &- ((a ^ c) & 1)
        return floor.average(b)
    }
}

/// The intra 4×4 and 8×8 prediction modes, with the numbers of tables 8-2 and 8-3.
enum H264IntraMode {
    static let vertical = 0
    static let horizontal = 1
    static let dc = 2
    static let diagonalDownLeft = 3
    static let diagonalDownRight = 4
    static let verticalRight = 5
    static let horizontalDown = 6
    static let verticalLeft = 7
    static let horizontalUp = 8

    /// Returns a bit set of the modes that may be used, by whether the left side, the top and the corner are available.
    static func allowed(left: Bool, top: Bool, corner: Bool) -> Int {
        var modes = 1 << dc
        if left { modes |= 1 << horizontal | 1 << horizontalUp }
        if top { modes |= 1 << vertical | 1 << diagonalDownLeft | 1 << verticalLeft }
        if left && top && corner {
            modes |= 1 << diagonalDownRight | 1 << verticalRight | 1 << horizontalDown
        }
        return modes
    }
}

/// Predicts N×N luma blocks. `size` is 4 or 8 and is a constant after inlining.
package enum IntraDirectional {
    @inline(__always) private static func row(
        _ size: Int, y: Int, source: ElementPointer<UInt8>, destination: ElementPointer<UInt8>, stride: Int
    ) {
        if size == 4 {
            destination.store(y &* stride, source.load(0, as: UInt32.self))
        } else {
            destination.store(y &* stride, source.load(0, as: UInt64.self))
        }
    }

    @inline(__always) private static func flat(
        _ size: Int, y: Int, value: UInt8, destination d: ElementPointer<UInt8>, stride: Int
    ) {
        if size == 4 {
            d.store(y &* stride, UInt32(value) &* 0x0101_0101)
        } else {
            d.store(y &* stride, UInt64(value) &* 0x0101_0101_0101_0101)
        }
    }

    /// Returns the mean of the available samples of the left side and the top, or 128 if none is available.
    @inline(__always) static func mean(_ size: Int, _ e: ElementPointer<UInt8>, left: Bool, top: Bool) -> UInt8 {
        var sum = 0
        if left { for i in 0..<size { sum &+= Int(e[i]) } }
        if top { for i in 0..<size { sum &+= Int(e[size &+ 1 &+ i]) } }
        let half = size == 4 ? 2 : 4
        let shift = size == 4 ? 2 : 3
        if left && top { return UInt8(truncatingIfNeeded: (sum &+ 2 &* half) &>> (shift &+ 1)) }
        return left || top ? UInt8(truncatingIfNeeded: (sum &+ half) &>> shift) : 128
    }

    @inline(__always) static func predict(
        _ size: Int, mode: Int, _ edges: IntraEdges, left: Bool, top: Bool, to d: ElementPointer<UInt8>, _ stride: Int,
        scratch s: ElementPointer<UInt8>
    ) {
        let e = edges.samples
        let a = edges.averages
        let f = edges.smooth
        switch mode {
        case H264IntraMode.vertical:
            for y in 0..<size { row(size, y: y, source: e + (size &+ 1), destination: d, stride: stride) }
        case H264IntraMode.horizontal:
            for y in 0..<size { flat(size, y: y, value: e[size &- 1 &- y], destination: d, stride: stride) }
        case H264IntraMode.diagonalDownLeft:
            for y in 0..<size { row(size, y: y, source: f + (size &+ 2 &+ y), destination: d, stride: stride) }
        case H264IntraMode.diagonalDownRight:
            for y in 0..<size { row(size, y: y, source: f + (size &- y), destination: d, stride: stride) }
        case H264IntraMode.verticalRight:
            // Even rows are windows of … f5 f7 aN aN+1 …, odd rows of … f4 f6 fN fN+1 …. The windows move to the left
            // as y grows.
            let prefix = size / 2 &- 1
            for k in 0..<prefix {
                s[k] = f[3 &+ 2 &* k]
                s[32 &+ k] = f[2 &+ 2 &* k]
            }
            row(size, y: 0, source: a + size, destination: s + prefix, stride: 0)
            row(size, y: 0, source: f + size, destination: s + (32 &+ prefix), stride: 0)
            for k in 0..<size / 2 {
                row(size, y: 2 &* k, source: s + (prefix &- k), destination: d, stride: stride)
                row(size, y: 2 &* k &+ 1, source: s + (32 &+ prefix &- k), destination: d, stride: stride)
            }
        case H264IntraMode.horizontalDown:
            for k in 0..<size {
                s[2 &* k] = a[k]
                s[2 &* k &+ 1] = f[k &+ 1]
                s[2 &* size &+ k] = f[size &+ 1 &+ k]
            }
            for y in 0..<size { row(size, y: y, source: s + 2 &* (size &- 1 &- y), destination: d, stride: stride) }
        case H264IntraMode.verticalLeft:
            for k in 0..<size / 2 {
                row(size, y: 2 &* k, source: a + (size &+ 1 &+ k), destination: d, stride: stride)
                row(size, y: 2 &* k &+ 1, source: f + (size &+ 2 &+ k), destination: d, stride: stride)
            }
        case H264IntraMode.horizontalUp:
            for k in 0..<size &- 1 {
                s[2 &* k] = a[size &- 2 &- k]
                s[2 &* k &+ 1] = f[size &- 2 &- k]
            }
            for k in 2 &* size &- 2..<3 &* size { s[k] = e[0] }
            for y in 0..<size { row(size, y: y, source: s + 2 &* y, destination: d, stride: stride) }
        default:
            let value = mean(size, e, left: left, top: top)
            for y in 0..<size { flat(size, y: y, value: value, destination: d, stride: stride) }
        }
    }

    @inline(never) package static func predict4x4(
        mode: Int, _ edges: IntraEdges, left: Bool, top: Bool, to destination: ElementPointer<UInt8>, _ stride: Int,
        scratch: ElementPointer<UInt8>
    ) {
        predict(4, mode: mode, edges, left: left, top: top, to: destination, stride, scratch: scratch)
    }

    @inline(never) package static func predict8x8(
        mode: Int, _ edges: IntraEdges, left: Bool, top: Bool, to destination: ElementPointer<UInt8>, _ stride: Int,
        scratch: ElementPointer<UInt8>
    ) {
        predict(8, mode: mode, edges, left: left, top: top, to: destination, stride, scratch: scratch)
    }
}
