/// The input of residual_coding() for a transform block, H.265 7.3.8.11.
struct HEVCResidualBlock {
    /// The n·n levels in raster order; at least one is not zero.
    var levels: ElementPointer<Int16>
    /// Log2 of the block's size in its own component: 2…5.
    var log2Size: Int
    var isChroma = false
    /// scanIdx of 7.4.9.11: 0 diagonal, 1 horizontal, 2 vertical.
    var scan = 0
    var sign_data_hiding_enabled_flag = false

    /// Returns scanIdx of an intra block from its prediction mode, 7.4.9.11.
    @inline(__always) static func scan(intraMode: Int, log2Size: Int, isChroma: Bool) -> Int {
        guard log2Size == 2 || log2Size == 3 && !isChroma else { return 0 }
        return intraMode >= 6 && intraMode <= 14 ? 2 : intraMode >= 22 && intraMode <= 30 ? 1 : 0
    }
}

extension ElementPointer where Element == Int16 {
    /// Returns a mask for the 4×4 block at this pointer: bit x + 4·y is set if the level at (x, y) is not zero.
    /// `stride` is in levels.
    @inline(__always) func nonZeroMask4x4(stride: Int) -> Int {
        let first = load(0, as: UInt64.self)
        let second = load(stride, as: UInt64.self)
        let third = load(2 &* stride, as: UInt64.self)
        let fourth = load(3 &* stride, as: UInt64.self)
        if first | second | third | fourth == 0 { return 0 }
        // SAFETY: both types have 16 bytes without padding, and every bit pattern is a valid value of both.
        let low = unsafe unsafeBitCast(SIMD2(first, second), to: Words.self)
        let high = unsafe unsafeBitCast(SIMD2(third, fourth), to: Words.self)
        let lowBits = ((low | (Words.zero &- low)) &>> 15) & Words(1, 2, 4, 8, 16, 32, 64, 128)
        let highBits = ((high | (Words.zero &- high)) &>> 15) & Words(256, 512, 1024, 2048, 4096, 8192, 16384, .min)
        let pair = unsafe unsafeBitCast(lowBits | highBits, to: SIMD2<UInt64>.self)
        let four = pair.x | pair.y
        let two = four | four &>> 32
        return Int(truncatingIfNeeded: (two | two &>> 16) & 0xFFFF)
    }
}

/// Codes the levels of transform blocks into a sink. The owner of the scratch memory must keep it alive.
struct HEVCResidualCoder {
    private let positions = HEVCResidualTables.shared.positions.elements
    private let masks = HEVCResidualTables.shared.masks.elements
    private let subBlocks = HEVCResidualTables.shared.subBlocks.elements
    private let significant = HEVCResidualTables.shared.significant.elements
    /// The magnitudes of a sub-block's levels in coding order.
    private let magnitudes: ElementPointer<Int32>

    /// The number of elements that `scratch` must have.
    static let scratchCount = 16

    init(scratch: ElementPointer<Int32>) { magnitudes = scratch }

    /// Codes residual_coding() from the element after transform_skip_flag on.
    @inline(__always) func code<Sink: HEVCBinSink>(_ block: HEVCResidualBlock, _ sink: inout Sink) {
        let log2Size = block.log2Size
        let size = 1 &<< log2Size
        let order = subBlocks + 64 &* HEVCResidualTables.subBlockRow(log2Size: log2Size, scan: block.scan)
        let scanPositions = positions + 16 &* block.scan
        let scanMasks = masks + 512 &* block.scan
        let rows =
            significant
            + 16 &* HEVCResidualTables.significantRow(log2Size: log2Size, isChroma: block.isChroma, scan: block.scan)

        // Find the last sub-block that contains a level.
        var index = 1 &<< (2 &* log2Size &- 4)
        var raster = 0
        var location = 0
        repeat {
            index &-= 1
            location = Int(order[index])
            raster = subBlock(block.levels, location, log2Size).nonZeroMask4x4(stride: size)
        } while raster == 0 && index > 0
        var mask = scanMask(scanMasks, raster)
        var next = 15 &- (UInt16(truncatingIfNeeded: mask) | 1).leadingZeroBitCount
        let last = Int(scanPositions[next])
        codeLast(
            x: (location & 7) &<< 2 | last & 3, y: (location &>> 3) &<< 2 | last &>> 2, block, &sink)
        next &-= 1

        // Bit x + 8·y: the sub-block at (x, y) is coded.
        var coded: UInt64 = 0
        var wasAboveOne = false
        let isOneSubBlock = log2Size == 2
        let flagContext = HEVCContexts.codedSubBlock &+ (block.isChroma ? 2 : 0)
        var isLast = true
        while true {
            let around = coded &>> UInt64(truncatingIfNeeded: location)
            let right = location & 7 == 7 ? 0 : Int(truncatingIfNeeded: around &>> 1) & 1
            let neighbors = right | Int(truncatingIfNeeded: around &>> 7) & 2
            var isCoded = true
            var end = 0
            if !isLast {
                mask = scanMask(scanMasks, subBlock(block.levels, location, log2Size).nonZeroMask4x4(stride: size))
                next = 15
                if index > 0 {
                    isCoded = mask != 0
                    sink.codeInline(flagContext &+ (neighbors != 0 ? 1 : 0), isCoded ? 1 : 0)
                    // If only the first position of the sub-block has a level, its sig_coeff_flag is inferred.
                    end = mask == 1 ? 1 : 0
                }
            }
            isLast = false
            if isCoded {
                coded |= 1 &<< UInt64(truncatingIfNeeded: location)
                let row = isOneSubBlock ? rows : rows + 16 &* (neighbors &+ (index == 0 ? 4 : 0))
                while next >= end {
                    sink.codeInline(Int(row[next]), mask &>> next & 1)
                    next &-= 1
                }
                if mask != 0 {
                    let set = (index == 0 || block.isChroma ? 0 : 2) &+ (wasAboveOne ? 1 : 0)
                    wasAboveOne = codeLevels(
                        subBlock(block.levels, location, log2Size), mask, scanPositions, log2Size: log2Size, set: set,
                        isChroma: block.isChroma, sign_data_hiding_enabled_flag: block.sign_data_hiding_enabled_flag, &sink)
                }
            }
            if index == 0 { break }
            index &-= 1
            location = Int(order[index])
        }
    }

    @inline(__always) private func subBlock(
        _ levels: ElementPointer<Int16>, _ location: Int, _ log2Size: Int
    ) -> ElementPointer<Int16> {
        levels + ((location & 7) &<< 2 &+ (location &>> 3) &<< (log2Size &+ 2))
    }

    @inline(__always) private func scanMask(_ masks: ElementPointer<UInt16>, _ raster: Int) -> Int {
        Int(masks[raster & 255] | masks[256 &+ raster &>> 8])
    }

    /// Codes last_sig_coeff_x_prefix and the other elements of the position of the last level, 9.3.4.2.3.
    @inline(__always) func codeLast<Sink: HEVCBinSink>(
        x: Int, y: Int, _ block: HEVCResidualBlock, _ sink: inout Sink
    ) {
        let (first, second) = block.scan == 2 ? (y, x) : (x, y)
        let log2Size = block.log2Size
        let offset = block.isChroma ? 15 : 3 &* (log2Size &- 2) &+ (log2Size &- 1) &>> 2
        let shift = block.isChroma ? log2Size &- 2 : (log2Size &+ 1) &>> 2
        let (firstPrefix, firstBits) = Self.lastPrefix(first)
        let (secondPrefix, secondBits) = Self.lastPrefix(second)
        let longest = 2 &* log2Size &- 1
        codePrefix(firstPrefix, longest: longest, context: HEVCContexts.lastX &+ offset, shift: shift, sink: &sink)
        codePrefix(secondPrefix, longest: longest, context: HEVCContexts.lastY &+ offset, shift: shift, sink: &sink)
        if firstBits > 0 { sink.codeBypass(UInt32(truncatingIfNeeded: first & (1 &<< firstBits &- 1)), firstBits) }
        if secondBits > 0 { sink.codeBypass(UInt32(truncatingIfNeeded: second & (1 &<< secondBits &- 1)), secondBits) }
    }

    /// Returns the prefix of a coordinate, and the number of its low bits that form the suffix, (7-74).
    @inline(__always) private static func lastPrefix(_ value: Int) -> (prefix: Int, suffixBits: Int) {
        if value < 4 { return (value, 0) }
        let bits = 62 &- value.leadingZeroBitCount
        return (2 &* bits &+ (value &>> bits), bits)
    }

    @inline(__always) private func codePrefix<Sink: HEVCBinSink>(
        _ value: Int, longest: Int, context: Int, shift: Int, sink: inout Sink
    ) {
        var index = 0
        while index < value {
            sink.codeInline(context &+ index &>> shift, 1)
            index &+= 1
        }
        if value < longest { sink.codeInline(context &+ index &>> shift, 0) }
    }

    /// Codes the magnitudes and signs of a sub-block; `mask` marks the scan positions with levels. Returns whether a
    /// coeff_abs_level_greater1_flag was 1, which selects the contexts of the next sub-block.
    @inline(__always) private func codeLevels<Sink: HEVCBinSink>(
        _ levels: ElementPointer<Int16>, _ mask: Int, _ scanPositions: ElementPointer<UInt8>, log2Size: Int, set: Int,
        isChroma: Bool, sign_data_hiding_enabled_flag: Bool, _ sink: inout Sink
    ) -> Bool {
        let highest = 63 &- mask.leadingZeroBitCount
        let lowest = mask.trailingZeroBitCount
        var rest = mask
        var signs: UInt32 = 0
        var count = 0
        repeat {
            let scanIndex = 63 &- rest.leadingZeroBitCount
            rest ^= 1 &<< scanIndex
            let position = Int(scanPositions[scanIndex])
            let level = Int32(levels[position & 3 &+ (position &>> 2) &<< log2Size])
            let sign = level &>> 31
            magnitudes[count] = (level ^ sign) &- sign
            signs = signs &<< 1 | UInt32(truncatingIfNeeded: sign & 1)
            count &+= 1
        } while rest != 0

        let aboveOne = HEVCContexts.aboveOne &+ 4 &* set &+ (isChroma ? 16 : 0)
        var increment = 1
        var firstAbove = -1
        let flagged = min(count, 8)
        var index = 0
        while index < flagged {
            if magnitudes[index] > 1 {
                sink.codeInline(aboveOne &+ increment, 1)
                increment = 0
                if firstAbove < 0 { firstAbove = index }
            } else {
                sink.codeInline(aboveOne &+ increment, 0)
                if increment != 0 { increment = min(increment &+ 1, 3) }
            }
            index &+= 1
        }
        if firstAbove >= 0 {
            sink.codeInline(
                HEVCContexts.aboveTwo &+ set &+ (isChroma ? 4 : 0), magnitudes[firstAbove] > 2 ? 1 : 0)
        }
        if sign_data_hiding_enabled_flag && highest &- lowest > 3 {
            sink.codeBypass(signs &>> 1, count &- 1)
        } else {
            sink.codeBypass(signs, count)
        }
        guard firstAbove >= 0 || count > 8 else { return false }

        var rice = 0
        index = max(firstAbove, 0)
        if firstAbove < 0 { index = 8 }
        while index < count {
            let magnitude = Int(magnitudes[index])
            let base = index >= 8 ? 1 : index == firstAbove ? 3 : 2
            if magnitude >= base {
                Self.codeRemaining(magnitude &- base, rice, &sink)
                if magnitude > 3 &<< rice { rice = min(rice &+ 1, 4) }
            }
            index &+= 1
        }
        return firstAbove >= 0
    }

    /// Codes coeff_abs_level_remaining, 9.3.3.11.
    @inline(__always) static func codeRemaining<Sink: HEVCBinSink>(
        _ value: Int, _ rice: Int, _ sink: inout Sink
    ) {
        let ones = value &>> rice
        if ones < 4 {
            let prefix = (2 &<< ones &- 2) &<< rice
            sink.codeBypass(
                UInt32(truncatingIfNeeded: prefix | value & (1 &<< rice &- 1)), ones &+ 1 &+ rice)
        } else {
            sink.codeBypass(15, 4)
            sink.codeEscape(value &- 4 &<< rice, order: rice &+ 1)
        }
    }
}
