/// What a block's samples are, for sample adaptive offset: how many there are of each kind, and the sum of what they lack
/// of the source.
struct HEVCSAOStatistics {
    /// Kinds: four edge classes of five (local least 0, concave 1, flat 2, convex 3, local most 4: edgeIdx before it is
    /// turned round, H.265 8.7.3.2), then 32 bands.
    static let bandKinds = 20
    static let kinds = 52

    /// By kind.
    private let counts: ElementStorage<Int32>
    private let sums: ElementStorage<Int32>

    init() {
        counts = ElementStorage(count: Self.kinds, repeating: 0)
        sums = ElementStorage(count: Self.kinds, repeating: 0)
    }

    @inline(__always) func count(_ kind: Int) -> Int { Int(counts.elements[kind]) }
    @inline(__always) func sum(_ kind: Int) -> Int { Int(sums.elements[kind]) }

    /// What adding `offset` to the samples of a kind adds to the squared error.
    @inline(__always) func change(_ kind: Int, by offset: Int) -> Int {
        (count(kind) * offset - 2 * sum(kind)) * offset
    }

    /// Samples (x0, y0)…(x1, y1), the last not included; those on the plane's border count for bands alone.
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
                add(Self.bandKinds &+ Int(truncatingIfNeeded: value) &>> shift, lack(original[column], value))
            }
            if row == 0 || row == height - 1 { continue }
            for column in max(x.lowerBound, 1)..<max(min(x.upperBound, width - 1), 1) {
                let value = line[column]
                let lack = lack(original[column], value)
                for edgeClass in 0..<4 {
                    let step = Self.step(edgeClass, stride)
                    let kind = 2 &+ sign(value, line[column &- step]) &+ sign(value, line[column &+ step])
                    add(5 &* edgeClass &+ kind, lack)
                }
            }
        }
    }

    /// From a sample to its second neighbour along the direction of `sao_eo_class`, in samples; the first is opposite.
    @inline(__always) static func step(_ edgeClass: Int, _ stride: Int) -> Int {
        switch edgeClass {
        case 0: 1
        case 1: stride
        case 2: stride &+ 1
        default: stride &- 1
        }
    }

    @inline(__always) private func add(_ kind: Int, _ lack: Int32) {
        counts.elements[kind] &+= 1
        sums.elements[kind] &+= lack
    }

    @inline(__always) private func lack<Sample: HEVCSample>(_ source: Sample, _ value: Sample) -> Int32 {
        Int32(truncatingIfNeeded: source) &- Int32(truncatingIfNeeded: value)
    }

    @inline(__always) private func sign<Sample: HEVCSample>(_ a: Sample, _ b: Sample) -> Int {
        (a > b ? 1 : 0) &- (a < b ? 1 : 0)
    }
}
