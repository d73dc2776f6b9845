/// Statistics of a block's samples for sample adaptive offset: for each kind, the number of samples and the sum of
/// their differences, source minus sample.
struct HEVCSAOStatistics {
    /// The number of the first band kind, and the number of kinds. There are five kinds for each of the four edge
    /// classes: local minimum 0, concave 1, flat 2, convex 3, local maximum 4, which is edgeIdx before it is remapped,
    /// H.265 8.7.3.2. The 32 bands follow.
    static let bandKinds = 20
    static let kinds = 52

    /// The number of samples and the sum of their differences, by kind.
    private let counts: ElementStorage<Int32>
    private let sums: ElementStorage<Int32>

    init() {
        counts = ElementStorage(count: Self.kinds, repeating: 0)
        sums = ElementStorage(count: Self.kinds, repeating: 0)
    }

    @inline(__always) func count(_ kind: Int) -> Int { Int(counts.elements[kind]) }
    @inline(__always) func sum(_ kind: Int) -> Int { Int(sums.elements[kind]) }

    /// Returns the change of the squared error if `offset` is added to all samples of a kind.
    @inline(__always) func change(_ kind: Int, by offset: Int) -> Int {
        (count(kind) * offset - 2 * sum(kind)) * offset
    }

    /// Collects the statistics of the samples in columns `x` and rows `y`. Samples on the plane's border only count for
    /// bands.
    func gather<Sample: HEVCSample>(
        _ plane: ElementPointer<Sample>, stride: Int, source: ElementPointer<Sample>, sourceStride: Int, x: Range<Int>, y: Range<Int>,
        width: Int, height: Int
    ) {
        counts.elements.fill(0, count: Self.kinds)
        sums.elements.fill(0, count: Self.kinds)
        let shift = Sample.bitDepth - 5
        for row in y {
            let line = plane + row * stride
            let original = source + row * sourceStride
            for column in x {
                let value = line[column]
                add(Self.bandKinds &+ Int(truncatingIfNeeded: value) &>> shift, difference(original[column], value))
            }
            if row == 0 || row == height - 1 { continue }
            for column in max(x.lowerBound, 1)..<max(min(x.upperBound, width - 1), 1) {
                let value = line[column]
                let difference = difference(original[column], value)
                for edgeClass in 0..<4 {
                    let step = Self.step(edgeClass, stride)
                    let kind = 2 &+ sign(value, line[column &- step]) &+ sign(value, line[column &+ step])
                    add(5 &* edgeClass &+ kind, difference)
                }
            }
        }
    }

    /// Returns the distance, in samples, from a sample to its second neighbor in the direction of `sao_eo_class`. The
    /// first neighbor is at the negative distance.
    @inline(__always) static func step(_ edgeClass: Int, _ stride: Int) -> Int {
        switch edgeClass {
        case 0: 1
        case 1: stride
        case 2: stride &+ 1
        default: stride &- 1
        }
    }

    @inline(__always) private func add(_ kind: Int, _ difference: Int32) {
        counts.elements[kind] &+= 1
        sums.elements[kind] &+= difference
    }

    @inline(__always) private func difference<Sample: HEVCSample>(_ source: Sample, _ value: Sample) -> Int32 {
        Int32(truncatingIfNeeded: source) &- Int32(truncatingIfNeeded: value)
    }

    @inline(__always) private func sign<Sample: HEVCSample>(_ a: Sample, _ b: Sample) -> Int {
        (a > b ? 1 : 0) &- (a < b ? 1 : 0)
    }
}
