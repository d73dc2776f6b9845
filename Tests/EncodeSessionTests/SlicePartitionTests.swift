import Testing

@testable import EncodeSession

@Suite struct SlicePartitionTests {
    /// Sweeps picture heights and slice counts up to 70: the slices cover the picture, their rows rise, there are no
    /// more than requested, and their shape suits the device.
    @Test func slicesPartitionEveryPictureHeight() {
        var faults: [String] = []
        for structure in [EncodeCapabilities.SliceStructure.rows, .equalRows, .powerOfTwoRows] {
            for rows in 1...70 {
                for slices in 1...70 {
                    let first = SlicePartition.firstRows(rows: rows, slices: slices, structure: structure)
                    let heights = zip(first, first.dropFirst() + [rows]).map { $1 - $0 }
                    var isRight = first.first == 0 && heights.allSatisfy { $0 > 0 } && heights.reduce(0, +) == rows
                    switch structure {
                    case .rows:
                        isRight = isRight && first.count == min(slices, rows)
                        isRight = isRight && (heights.max() ?? 0) - (heights.min() ?? 0) <= 1
                        // i965 fails if the last slice is the smallest.
                        isRight = isRight && heights.last == heights.max()
                    case .equalRows, .powerOfTwoRows:
                        isRight = isRight && first.count <= slices
                        isRight =
                            isRight && Set(heights.dropLast()).count <= 1 && heights[heights.count - 1] <= heights[0]
                        if structure == .powerOfTwoRows, heights.count > 1 {
                            isRight = isRight && heights[0] & (heights[0] - 1) == 0
                        }
                    }
                    if !isRight { faults.append("\(structure) \(rows)/\(slices): \(first)") }
                }
            }
        }
        #expect(faults == [])
    }
}
