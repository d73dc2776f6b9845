/// The memory of one thread that works on rows.
final class H264RowWorker: Sendable {
    let scratch = H264Scratch()
    let sums: HalfSampleSums

    init(_ geometry: PlaneGeometry) { sums = HalfSampleSums(geometry) }
}

/// The syntax elements of a macroblock row that is coded and not yet written.
///
/// SAFETY: `H264RowSchedule` orders the threads, so that only one at a time uses a row.
final class H264CodedRow: @unchecked Sendable {
    private var macroblocks: [MacroblockSyntax]

    init(width: Int) { macroblocks = (0..<width).map { _ in MacroblockSyntax() } }

    /// Calls `body` with the macroblocks in a local variable, because accesses to properties of classes are checked.
    func withMacroblocks(_ body: (inout [MacroblockSyntax]) -> Void) {
        var local: [MacroblockSyntax] = []
        swap(&local, &macroblocks)
        body(&local)
        swap(&local, &macroblocks)
    }
}

/// The QPs of successive macroblocks of a slice.
struct QPChain {
    /// QP_Y,PRED: the QP of the previous macroblock in the slice.
    private var last = 26
    /// The sum of the QPs of all macroblocks so far.
    private(set) var sum = 0

    mutating func begin(_ slice: H264SliceJob) { last = slice.qp }

    /// Sets mb_qp_delta of the next macroblock, whose `qp` must be the QP that it was coded with. If the syntax
    /// contains no mb_qp_delta, QP_Y is that of the previous macroblock, H.264 7.4.5. Sets `qp` to QP_Y.
    mutating func settle(_ syntax: inout MacroblockSyntax) {
        var delta = 0
        if syntax.kind != .skip && (syntax.codedBlockPattern != 0 || syntax.kind == .intra16x16) {
            delta = syntax.qp &- last
            last = syntax.qp
            if delta > 25 { delta &-= 52 }
            if delta < -26 { delta &+= 52 }
        }
        syntax.qpDelta = delta
        syntax.qp = last
        sum &+= last
    }
}

/// The references of the slices of a picture.
struct H264SliceReferences {
    /// The planes of the pictures in the lists, with `MacroblockCoder.listLength` entries for each list.
    let planes: ElementPointer<ReferencePlanes>
    /// A number for each picture, with the same indices. Deblocking compares pictures, not indices.
    let identities: ElementPointer<Int8>
    /// The limit of the samples that refreshed macroblocks may use during intra refresh, with the same indices.
    let cleanLimits: ElementPointer<Int32>

    /// The references of slice `index` of the job, if these are the references of the first slice.
    func ofSlice(_ index: Int) -> H264SliceReferences {
        let offset = index * H264ReferenceStorage.perSlice
        return H264SliceReferences(
            planes: planes + offset, identities: identities + offset, cleanLimits: cleanLimits + offset)
    }
}

/// Owns the memory that `H264SliceReferences` points to.
final class H264ReferenceStorage: Sendable {
    static let perSlice = 2 * MacroblockCoder.listLength
    let slices: Int
    private let planes: ElementStorage<ReferencePlanes>
    private let identities: ElementStorage<Int8>
    private let cleanLimits: ElementStorage<Int32>

    /// - Parameter planes: The initial value of the entries.
    init(slices: Int, _ planes: ReferencePlanes) {
        self.slices = slices
        self.planes = ElementStorage(count: slices * Self.perSlice, repeating: planes)
        identities = ElementStorage(count: slices * Self.perSlice, repeating: -1)
        cleanLimits = ElementStorage(count: slices * Self.perSlice, repeating: 0)
    }

    var first: H264SliceReferences {
        H264SliceReferences(
            planes: planes.elements, identities: identities.elements, cleanLimits: cleanLimits.elements)
    }
}
