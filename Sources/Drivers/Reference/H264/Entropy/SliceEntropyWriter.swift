/// What the entropy coders need to know of a slice.
package struct EntropySlice {
    /// Raster address of the first macroblock; the others follow without a gap.
    package var firstMacroblock = 0
    package var type = SliceType.i
    /// SliceQP_Y.
    package var qp = 26
    /// num_ref_idx_active of each list.
    package var referenceCounts = (1, 0)
    package var cabac = false
    package var cabacInitIdc = 0
    /// transform_8x8_mode_flag of the picture parameter set.
    package var transform8x8 = false
    /// direct_8x8_inference_flag of the sequence parameter set.
    package var direct8x8Inference = true

    package init() {}
}

extension EntropySlice {
    init(_ job: SliceJob, transform8x8: Bool) {
        firstMacroblock = job.firstMacroblock
        type = job.type
        qp = job.qp
        referenceCounts = (job.list0.count, job.list1.count)
        cabac = job.cabac
        cabacInitIdc = job.cabacInitIdc
        self.transform8x8 = transform8x8
        direct8x8Inference = job.direct8x8Inference
    }
}

/// Writes slices as NAL units: header, slice data (H.264 7.3.4) in CAVLC or CABAC, trailing bits and emulation
/// prevention. One thread at a time may use a writer; memory is kept from slice to slice.
///
/// Call `begin`, then `write` for each macroblock in raster order from the slice's first on, then `finish`.
package final class SliceEntropyWriter {
    private let width: Int
    private let records: ElementStorage<NeighbourRecord>
    private let counts = ElementStorage<UInt8>(count: BlockCountGrid.size, repeating: 0)
    private let states = ElementStorage<UInt8>(count: ArithmeticEncoder.stateCount, repeating: 0)
    private let scratch = ElementStorage<Int16>(count: CAVLCCoder.scratchCount, repeating: 0)
    private var output = ElementStorage<UInt8>(count: 1 << 16, repeating: 0)
    private var slice = EntropySlice()
    private var prefix: [UInt8] = []
    private var cavlc: CAVLCCoder
    private var cabac: CABACCoder

    /// No macroblock's syntax takes more bytes.
    private static let largestMacroblock = 16384

    package init(widthInMacroblocks: Int) {
        width = widthInMacroblocks
        records = ElementStorage(count: widthInMacroblocks, repeating: NeighbourRecord())
        cavlc = CAVLCCoder(sink: SliceBitSink(output.elements), scratch: scratch.elements, tables: .shared)
        cabac = CABACCoder(
            arithmetic: ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements))
        ArithmeticEncoder.layStates(states.elements, tables: .shared)
    }

    /// Starts a slice; whatever was not finished is dropped.
    func begin(_ job: SliceJob, transform8x8: Bool) {
        begin(EntropySlice(job, transform8x8: transform8x8), header: job.header)
    }

    package func begin(_ slice: EntropySlice, header: SliceHeaderBits) {
        self.slice = slice
        prefix = header.prefix
        marked = nil
        emulated = EmulationCount()
        reserve(used: 0, more: header.payload.count + Self.largestMacroblock)
        var sink = SliceBitSink(output.elements)
        sink.put(header)
        if slice.cabac {
            sink.align(with: 1)
            sink.flush()
            CABACCoder.initialise(states.elements, slice: slice)
            cabac = CABACCoder(
                arithmetic: ArithmeticEncoder(
                    destination: output.elements, byteCount: sink.byteCount, states: states.elements))
        } else {
            cavlc = CAVLCCoder(sink: sink, scratch: scratch.elements, tables: .shared)
        }
    }

    /// Bits of the slice so far, its header among them, before emulation prevention. CABAC holds a few back.
    package var bitCount: Int { slice.cabac ? cabac.arithmetic.bitCount : cavlc.sink.bitCount }

    /// Writes a macroblock. With CABAC an 8×8 luma block that `codedBlockPattern` says is coded must have a level
    /// that is not zero where the transform is 8×8: the syntax has no way to say otherwise.
    package func write(_ macroblock: borrowing MacroblockSyntax, address: Int) {
        let column = address % width
        let hasLeft = column > 0 && address > slice.firstMacroblock
        let hasTop = address - width >= slice.firstMacroblock
        let none =
            !slice.cabac
            ? NeighbourRecord.unavailableCounts
            : macroblock.kind.isIntra ? NeighbourRecord.unavailableToIntra : NeighbourRecord.unavailableToInter
        let left = hasLeft ? records.elements[column - 1] : none
        let top = hasTop ? records.elements[column] : none
        let grid = BlockCountGrid(counts.elements)
        var record = NeighbourRecord()
        if macroblock.kind != .skip {
            grid.start(left: left, top: top)
            record.traits = .coded
            record.codedBlockPattern = UInt8(truncatingIfNeeded: macroblock.codedBlockPattern)
            switch macroblock.kind {
            case .intra16x16: record.traits.insert(.intra16x16)
            case .direct:
                record.traits.insert(.direct)
                if macroblock.transform8x8 && macroblock.codedBlockPattern & 15 != 0 {
                    record.traits.insert(.transform8x8)
                }
            case .intra8x8: record.traits.insert(.transform8x8)
            default:
                if macroblock.transform8x8 && macroblock.codedBlockPattern & 15 != 0 && macroblock.kind != .intra4x4 {
                    record.traits.insert(.transform8x8)
                }
            }
        }
        if slice.cabac {
            reserve(used: cabac.arithmetic.byteCount, more: Self.largestMacroblock)
            var coder = cabac
            coder.write(macroblock, slice: slice, left: left, top: top, grid: grid, record: &record)
            cabac = coder
        } else {
            reserve(used: cavlc.sink.byteCount, more: Self.largestMacroblock)
            var coder = cavlc
            coder.write(macroblock, slice: slice, grid: grid, transform8x8: record.traits.contains(.transform8x8))
            cavlc = coder
        }
        if macroblock.kind != .skip { grid.finish(&record) }
        records.elements[column] = record
    }

    // MARK: Going back

    /// The coders as they were at `mark`; contexts need no way back, since a slice ends where it goes back to.
    private var marked: (cavlc: CAVLCCoder, cabac: CABACCoder)?
    /// A carry of later bits goes to this byte, over bytes of 255 after it.
    private var markedByte: (index: Int, value: UInt8) = (0, 0)
    private var emulated = EmulationCount()

    /// The slice may come to end here: see `returnToMark`.
    func mark() {
        marked = (cavlc, cabac)
        guard slice.cabac else { return }
        var index = cabac.arithmetic.byteCount - 1
        while index >= 0 && output.elements[index] == 0xFF { index -= 1 }
        markedByte = (index, index < 0 ? 0 : output.elements[index])
    }

    /// Takes back what was written since `mark`. Only `finish` may follow.
    func returnToMark() {
        guard let marked else { return }
        cavlc = marked.cavlc
        cabac = marked.cabac
        cavlc.sink.move(to: output.elements)
        cabac.arithmetic.move(to: output.elements)
        guard slice.cabac else { return }
        let start = markedByte.index + 1
        if start > 0 { output.elements[markedByte.index] = markedByte.value }
        for index in start..<max(start, cabac.arithmetic.byteCount) { output.elements[index] = 0xFF }
    }

    /// Bytes that the NAL unit has at most if the slice ends here.
    func mostBytes() -> Int {
        // Bytes that no carry reaches any more are counted; of the few others every second may need a 3 before it.
        var settled = slice.cabac ? cabac.arithmetic.byteCount : cavlc.sink.byteCount
        if slice.cabac {
            repeat { settled -= 1 } while settled > 0 && output.elements[settled] == 0xFF
        }
        emulated.count(output.elements, upTo: max(settled, 0))
        // What the coders hold back, a run of skipped macroblocks and the trailing bits.
        let bytes = bitCount / 8 + 8
        return prefix.count + bytes + emulated.found + (bytes - max(settled, 0)) / 2
    }

    /// Ends the slice and returns its NAL unit: the header's prefix as it was given, the rest with emulation
    /// prevention.
    package func finish() -> [UInt8] {
        let count = slice.cabac ? cabac.finish() : cavlc.finish()
        return EmulationPrevention.escape(output.elements, count: count, after: prefix)
    }

    /// Makes room for `more` bytes after `used`.
    @inline(__always) private func reserve(used: Int, more: Int) {
        if used &+ more > output.count { grow(used: used, more: more) }
    }

    @inline(never) private func grow(used: Int, more: Int) {
        let larger = ElementStorage<UInt8>(count: max(2 * output.count, used + more), repeating: 0)
        larger.elements.copy(from: output.elements, count: used)
        output = larger
        cavlc.sink.move(to: larger.elements)
        cabac.arithmetic.move(to: larger.elements)
    }
}
