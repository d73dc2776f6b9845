/// The tables of both entropy coders in a layout for writing. They are created once per process.
final class EntropyTables: Sendable {
    static let shared = EntropyTables()

    /// Packed code words of coeff_token. The index is `68·table + 4·TotalCoeff + TrailingOnes`. Tables 0…3 are selected
    /// by nC, table 4 is for chroma DC.
    ///
    /// A packed code word has its number of bits in the low byte and its value in the bits above.
    let coeffToken: ElementStorage<UInt16>
    /// The start in `coeffToken` of the table for each nC from 0 to 16.
    let coeffTokenStart: ElementStorage<UInt16>
    /// Packed code words of total_zeros. The index is `16·(tzVlcIndex − 1) + total_zeros`.
    let totalZeros: ElementStorage<UInt16>
    /// Packed code words of total_zeros for chroma DC, with the same index.
    let totalZerosChromaDC: ElementStorage<UInt16>
    /// Packed code words of run_before. The index is `16·(min(zerosLeft, 7) − 1) + run_before`.
    let runBefore: ElementStorage<UInt16>
    /// codeNum by coded_block_pattern: inter in 0…47, intra 4×4 and 8×8 in 48…95.
    let patternCodes: ElementStorage<UInt8>

    /// Context offsets in 8×8 blocks of frames, table 9-43: significant_coeff_flag in 0…62, last_significant_coeff_flag
    /// in 64…126.
    let contextOffsets8x8: ElementStorage<UInt8>

    private init() {
        let tokens = [
            CAVLCCodeWords.coeffToken0, CAVLCCodeWords.coeffToken2, CAVLCCodeWords.coeffToken4,
            CAVLCCodeWords.coeffToken8, CAVLCCodeWords.coeffTokenChromaDC,
        ]
        coeffToken = ElementStorage(count: 68 * tokens.count, repeating: 0)
        for (index, words) in tokens.enumerated() {
            Self.pack(words, rowLength: 4, into: coeffToken.elements + 68 * index)
        }
        coeffTokenStart = Self.storage((0...16).map { UInt16($0 < 2 ? 0 : $0 < 4 ? 68 : $0 < 8 ? 136 : 204) })
        totalZeros = ElementStorage(count: 16 * 15, repeating: 0)
        Self.pack(CAVLCCodeWords.totalZeros, rowLength: 16, into: totalZeros.elements)
        totalZerosChromaDC = ElementStorage(count: 16 * 3, repeating: 0)
        Self.pack(CAVLCCodeWords.totalZerosChromaDC, rowLength: 16, into: totalZerosChromaDC.elements)
        runBefore = ElementStorage(count: 16 * 7, repeating: 0)
        Self.pack(CAVLCCodeWords.runBefore, rowLength: 16, into: runBefore.elements)

        patternCodes = Self.storage(CAVLCCodeWords.patternCodes)

        contextOffsets8x8 = ElementStorage(count: 128, repeating: 0)
        for (index, offset) in ContextOffsets8x8.significant.enumerated() {
            contextOffsets8x8.elements[index] = offset
        }
        for (index, offset) in ContextOffsets8x8.last.enumerated() {
            contextOffsets8x8.elements[64 + index] = offset
        }
    }

    private static func storage<Element>(_ values: [Element]) -> ElementStorage<Element> {
        let storage = ElementStorage<Element>(count: values.count, repeating: values[0])
        for (index, value) in values.enumerated() { storage.elements[index] = value }
        return storage
    }

    /// Parses rows of code words. Each row is padded to `rowLength` entries.
    private static func pack(_ text: String, rowLength: Int, into elements: ElementPointer<UInt16>) {
        for (row, line) in text.split(separator: "\n").enumerated() {
            for (column, word) in line.split(separator: " ").enumerated() {
                let value = word.utf8.reduce(UInt16(0)) { $0 << 1 | UInt16($1 & 1) }
                elements[row * rowLength + column] = value << 8 | UInt16(word.utf8.count)
            }
        }
    }
}
