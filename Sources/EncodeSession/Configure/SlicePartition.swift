/// Divides a picture's macroblock rows into slices.
enum SlicePartition {
    /// Returns the first row of each slice. The number of slices is `slices` if the structure allows it, otherwise the
    /// nearest lower number.
    ///
    /// - Precondition: `slices` and `rows` are at least 1.
    static func firstRows(rows: Int, slices: Int, structure: EncodeCapabilities.SliceStructure) -> [Int] {
        let slices = min(slices, rows)
        switch structure {
        case .rows:
            // DriverQuirk.needsWholeLastSlice: no slice has more rows than the last, because each first row is rounded
            // down.
            return (0..<slices).map { $0 * rows / slices }
        case .equalRows:
            return Array(stride(from: 0, to: rows, by: (rows + slices - 1) / slices))
        case .powerOfTwoRows:
            var height = 1
            while height * slices < rows { height *= 2 }
            return Array(stride(from: 0, to: rows, by: height))
        }
    }
}
