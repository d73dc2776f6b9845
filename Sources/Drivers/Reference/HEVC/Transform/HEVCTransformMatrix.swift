/// The transform matrices of H.265 8.6.4.2.
package enum HEVCTransformMatrix {
    /// The first column of transMatrix for 32 points.
    private static let firstColumn = [
        64, 90, 90, 90, 89, 88, 87, 85, 83, 82, 80, 78, 75, 73, 70, 67,
        64, 61, 57, 54, 50, 46, 43, 38, 36, 31, 25, 22, 18, 13, 9, 4,
    ]

    /// Returns the entry of the `size`-point DCT's transMatrix in row `row` (the frequency) and column `column`. For 32
    /// points the entry is a cosine of the angle row · (2 · column + 1) · π / 64. It equals an entry of the first
    /// column or its negative.
    package static func cosine(size: Int, row: Int, column: Int) -> Int {
        let angle = row * (32 / size) * (2 * column + 1) % 128
        let folded = angle > 64 ? 128 - angle : angle
        return folded < 32 ? firstColumn[folded] : -firstColumn[64 - folded]
    }

    /// transMatrix of the 4×4 DST; rows are frequencies.
    static let sine = [[29, 55, 74, 84], [74, 74, 0, -74], [84, -29, -74, 55], [55, -84, 74, -29]]
}

/// The transform matrices in the layout that the passes read: for each output, one pair of factors after the other,
/// each pair repeated four times.
final class HEVCTransformTables: Sendable {
    /// The number of words of one repeated pair.
    static let pair = 8
    private let storage = ElementStorage<Int16>(count: 4384, repeating: 0)

    // The table for `size` points begins size² words after the start of its direction and takes at most size² words.
    private static let inverseStart = 16
    private static let forwardStart = 2064
    private static let small = 4128

    /// The inverse transform's factors for the odd rows of `size` (4…32) points: size/2 outputs with size/4 pairs each,
    /// pair p for rows 4p + 1 and 4p + 3.
    @inline(__always) func inverseOdd(_ size: Int) -> ElementPointer<Int16> { storage.elements + (Self.inverseStart &+ size &* size) }
    /// The inverse transform's factors for rows 0 and size/2: two outputs with one pair each.
    @inline(__always) var inverseBase: ElementPointer<Int16> { storage.elements }
    /// The forward transform's factors for the odd rows of `size` (8…32) points: size/2 outputs with size/4 pairs each,
    /// pair p for columns 2p and 2p + 1.
    @inline(__always) func forwardOdd(_ size: Int) -> ElementPointer<Int16> {
        storage.elements + (Self.forwardStart &+ size &* size)
    }
    /// The factors of a 4-point transform: four outputs with two pairs each.
    @inline(__always) func four(_ kind: Four) -> ElementPointer<Int16> { storage.elements + (Self.small &+ 64 &* kind.rawValue) }

    enum Four: Int { case forwardCosine, inverseCosine, forwardSine, inverseSine }

    init() {
        func put(_ elements: ElementPointer<Int16>, _ first: Int, _ second: Int) {
            for i in 0..<4 {
                elements[2 * i] = Int16(first)
                elements[2 * i + 1] = Int16(second)
            }
        }
        put(inverseBase, 64, 64)
        put(inverseBase + Self.pair, 64, -64)
        for size in [4, 8, 16, 32] {
            let pairs = size / 4
            for output in 0..<size / 2 {
                for pair in 0..<pairs {
                    let offset = (output * pairs + pair) * Self.pair
                    func cosine(_ row: Int, _ column: Int) -> Int {
                        HEVCTransformMatrix.cosine(size: size, row: row, column: column)
                    }
                    put(inverseOdd(size) + offset, cosine(4 * pair + 1, output), cosine(4 * pair + 3, output))
                    put(
                        forwardOdd(size) + offset, cosine(2 * output + 1, 2 * pair),
                        cosine(2 * output + 1, 2 * pair + 1))
                }
            }
        }
        for output in 0..<4 {
            for pair in 0..<2 {
                let offset = (output * 2 + pair) * Self.pair
                func cosine(_ row: Int, _ column: Int) -> Int {
                    HEVCTransformMatrix.cosine(size: 4, row: row, column: column)
                }
                let sine = HEVCTransformMatrix.sine
                put(four(.forwardCosine) + offset, cosine(output, 2 * pair), cosine(output, 2 * pair + 1))
                put(four(.inverseCosine) + offset, cosine(2 * pair, output), cosine(2 * pair + 1, output))
                put(four(.forwardSine) + offset, sine[output][2 * pair], sine[output][2 * pair + 1])
                put(four(.inverseSine) + offset, sine[2 * pair][output], sine[2 * pair + 1][output])
            }
        }
    }
}
