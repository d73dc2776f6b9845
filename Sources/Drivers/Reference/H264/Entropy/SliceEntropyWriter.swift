/// The parameters of a slice that the entropy coders need.
package struct EntropySlice {
    /// The raster address of the first macroblock. The other macroblocks follow without gaps.
    package var firstMacroblock = 0
    package var type = SliceType.i
    /// SliceQP_Y.
    package var qp = 26
    /// num_ref_idx_active of each list.
    package var referenceCounts = (1, 0)
    package var cabac = false
    package var cabac_init_idc = 0
    /// transform_8x8_mode_flag of the picture parameter set.
    package var transform8x8 = false
    /// direct_8x8_inference_flag of the sequence parameter set.
    package var direct_8x8_inference_flag = true

    package init() {}
}

extension EntropySlice {
    init(_ job: H264SliceJob, transform8x8: Bool) {
        firstMacroblock = job.firstMacroblock
        type = job.type
        qp = job.qp
        referenceCounts = (job.list0.count, job.list1.count)
        cabac = job.cabac
        cabac_init_idc = job.cabac_init_idc
        self.transform8x8 = transform8x8
        direct_8x8_inference_flag = job.direct_8x8_inference_flag
    }
}

/// Writes slices as NAL units: header, slice data (H.264 7.3.4) with CAVLC or CABAC, trailing bits and emulation
/// prevention. Only one thread at a time may use a writer. The memory is reused for the next slice.
///
/// Call `begin`, then `write` for each macroblock in raster order from the first of the slice on, then `finish`.
package final class SliceEntropyWriter {
    private let width: Int
    private let records: ElementStorage<NeighborRecord>
    private let counts = ElementStorage<UInt8>(count: BlockCountGrid.size, repeating: 0)
    private let states = ElementStorage<UInt8>(count: ArithmeticEncoder.stateCount, repeating: 0)
    private let scratch = ElementStorage<Int16>(count: CAVLCCoder.scratchCount, repeating: 0)
    private var output = ElementStorage<UInt8>(count: 1 << 16, repeating: 0)
    private var slice = EntropySlice()
    private var prefix: [UInt8] = []
    private var cavlc: CAVLCCoder
    private var cabac: CABACCoder

    /// The maximum number of bytes of a macroblock's syntax elements.
    private static let largestMacroblock = 16384

    package init(widthInMacroblocks: Int) {
        width = widthInMacroblocks
        records = ElementStorage(count: widthInMacroblocks, repeating: NeighborRecord())
        cavlc = CAVLCCoder(sink: SliceBitSink(output.elements), scratch: scratch.elements, tables: .shared)
        cabac = CABACCoder(
            arithmetic: ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements))
        ArithmeticEncoder.layStates(states.elements, tables: .shared)
    }

    /// Starts a slice. An unfinished slice is dropped.
    func begin(_ job: H264SliceJob, transform8x8: Bool) {
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
            CABACCoder.initialize(states.elements, slice: slice)
            cabac = CABACCoder(
                arithmetic: ArithmeticEncoder(
                    destination: output.elements, byteCount: sink.byteCount, states: states.elements))
        } else {
            cavlc = CAVLCCoder(sink: sink, scratch: scratch.elements, tables: .shared)
        }
    }

    /// The number of bits of the slice so far, with its header, before emulation prevention. With CABAC, up to ten bits
    /// are still in the coder.
    package var bitCount: Int { slice.cabac ? cabac.arithmetic.bitCount : cavlc.sink.bitCount }

    /// Writes a macroblock.
    ///
    /// With CABAC and the 8×8 transform, a luma block that is coded according to `codedBlockPattern` must have a
    /// nonzero level. The syntax has no coded_block_flag for these blocks.
    package func write(_ macroblock: borrowing MacroblockSyntax, address: Int) {
        write(macroblock, address: address, column: address % width)
    }

    /// Writes a macroblock, whose column is known.
    func write(_ macroblock: borrowing MacroblockSyntax, address: Int, column: Int) {
        let hasLeft = column > 0 && address > slice.firstMacroblock
        let hasTop = address - width >= slice.firstMacroblock
        let none =
            !slice.cabac
            ? NeighborRecord.unavailableCounts
            : macroblock.kind.isIntra ? NeighborRecord.unavailableToIntra : NeighborRecord.unavailableToInter
        let left = hasLeft ? records.elements[column - 1] : none
        let top = hasTop ? records.elements[column] : none
        let grid = BlockCountGrid(counts.elements)
        var record = NeighborRecord()
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

    /// The coders at `mark`. The contexts need not be restored, because the slice ends after `returnToMark`.
    private var marked: (cavlc: CAVLCCoder, cabac: CABACCoder)?
    /// The last byte at `mark` that is not 255, with its index. Later bits can change it by a carry, which passes
    /// through bytes of 255.
    private var markedByte: (index: Int, value: UInt8) = (0, 0)
    private var emulated = EmulationCount()

    /// Saves the state at a position where the slice may have to end; see `returnToMark`.
    func mark() {
        marked = (cavlc, cabac)
        guard slice.cabac else { return }
        var index = cabac.arithmetic.byteCount - 1
        while index >= 0 && output.elements[index] == 0xFF { index -= 1 }
        markedByte = (index, index < 0 ? 0 : output.elements[index])
    }

    /// Drops everything that was written since `mark`. Only `finish` may follow.
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

    /// Returns the maximum size in bytes of the NAL unit if the slice ends here.
    func maxBytes() -> Int {
        // Emulation prevention bytes are counted in the bytes that no carry can change any more. In the few remaining
        // bytes, there is at most one for every two bytes.
        var settled = slice.cabac ? cabac.arithmetic.byteCount : cavlc.sink.byteCount
        if slice.cabac {
            repeat { settled -= 1 } while settled > 0 && output.elements[settled] == 0xFF
        }
        emulated.count(output.elements, upTo: max(settled, 0))
        // Includes the bits that the coders still hold, a run of skipped macroblocks, and the trailing bits.
        let bytes = bitCount / 8 + 8
        return prefix.count + bytes + emulated.found + (bytes - max(settled, 0)) / 2
    }

    /// Ends the slice and returns its NAL unit. The header's prefix is copied unchanged, the rest has emulation
    /// prevention.
    package func finish() -> [UInt8] {
        let count = slice.cabac ? cabac.finish() : cavlc.finish()
        return EmulationPrevention.escape(output.elements, count: count, after: prefix)
    }

    /// Makes room for `more` bytes after the first `used` bytes.
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
