/// Copies a client's surface into planes for encoding.
package enum HEVCSourceImport {
    /// Fills a row of coding tree units of `planes`, up to whole units. Samples outside of the source repeat its last
    /// column and row. Samples of 8 bits are shifted left by two for 10 bits; from samples of 10 bits the two low bits
    /// are dropped for 8 bits.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func load<Sample: HEVCSample>(
        _ source: HEVCSource, into planes: HEVCPlanes<Sample>, _ grid: HEVCGrid, row: Int
    ) {
        let columns = grid.columns &<< grid.log2CodingTreeBlock
        let width = Swift.min(source.width, columns)
        let size = grid.codingTreeSize
        for y in row &* size..<(row &+ 1) &* size {
            let to = planes.luma + y &* planes.stride
            loadLuma(source, row: Swift.min(y, source.height &- 1), width, to)
            (to + width).fill(to[width &- 1], count: columns &- width)
        }
        let pairs = (width &+ 1) / 2
        let pairRows = (source.height &+ 1) / 2
        for y in row &* size / 2..<(row &+ 1) &* size / 2 {
            let cb = planes.cb + y &* planes.chromaStride
            let cr = planes.cr + y &* planes.chromaStride
            loadPairs(source, row: Swift.min(y, pairRows &- 1), pairs, cb, cr)
            (cb + pairs).fill(cb[pairs &- 1], count: columns / 2 &- pairs)
            (cr + pairs).fill(cr[pairs &- 1], count: columns / 2 &- pairs)
        }
    }

    /// Returns the sample at index `index` of a row of the surface: a byte, or a 16-bit word with P010.
    @inline(__always) private static func sample<Sample: HEVCSample>(
        _ elements: ElementPointer<UInt8>, _ index: Int, isP010: Bool
    ) -> Sample {
        if isP010 {
            let word: UInt16 = elements.load(2 &* index)
            return Sample(truncatingIfNeeded: Int(word) &>> (16 &- Sample.bitDepth))
        }
        return Sample(truncatingIfNeeded: Int(elements[index]) &<< (Sample.bitDepth &- 8))
    }

    /// Returns eight P010 words as 10-bit samples.
    @inline(__always) private static func words(_ elements: ElementPointer<UInt8>, _ index: Int) -> Words {
        (elements.load(2 &* index, as: SIMD8<UInt16>.self) &>> 6).signedWords
    }

    @inline(__always) private static func loadLuma<Sample: HEVCSample>(
        _ source: HEVCSource, row: Int, _ width: Int, _ to: ElementPointer<Sample>
    ) {
        let from = source.luma + row &* source.lumaPitch
        var x = 0
        if Sample.bitDepth == 10 && source.isP010 {
            while x &+ 8 <= width {
                to.storeWords(x, words(from, x))
                x &+= 8
            }
        } else if Sample.bitDepth == 8 && !source.isP010 {
            while x &+ 16 <= width {
                to.store(x, from.load(x, as: Bytes.self))
                x &+= 16
            }
        }
        while x < width {
            to[x] = sample(from, x, isP010: source.isP010)
            x &+= 1
        }
    }

    @inline(__always) private static func loadPairs<Sample: HEVCSample>(
        _ source: HEVCSource, row: Int, _ count: Int, _ cb: ElementPointer<Sample>, _ cr: ElementPointer<Sample>
    ) {
        let from = source.chroma + row &* source.chromaPitch
        var x = 0
        if Sample.bitDepth == 10 && source.isP010 {
            while x &+ 8 <= count {
                let both = SIMD16<Int16>(lowHalf: words(from, 2 &* x), highHalf: words(from, 2 &* x &+ 8))
                cb.storeWords(x, both.evenHalf)
                cr.storeWords(x, both.oddHalf)
                x &+= 8
            }
        } else if Sample.bitDepth == 8 && !source.isP010 {
            while x &+ 8 <= count {
                let both: Bytes = from.load(2 &* x)
                cb.store(x, both.evenHalf)
                cr.store(x, both.oddHalf)
                x &+= 8
            }
        }
        while x < count {
            cb[x] = sample(from, 2 &* x, isP010: source.isP010)
            cr[x] = sample(from, 2 &* x &+ 1, isP010: source.isP010)
            x &+= 1
        }
    }
}
