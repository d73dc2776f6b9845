/// Cuts a picture's macroblock rows into slices.
enum SlicePartition {
    /// First row of each slice. As many slices as asked where the structure allows it, else the nearest number below;
    /// 1 ≤ `slices`, 1 ≤ `rows`.
    static func firstRows(rows: Int, slices: Int, structure: DeviceLimits.SliceStructure) -> [Int] {
        let slices = min(slices, rows)
        switch structure {
        case .rows:
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
