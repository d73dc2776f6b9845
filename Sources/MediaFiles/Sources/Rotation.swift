import Glibc

/// Converts display matrices to text for messages.
package enum Rotation {
    /// Returns the effect of a matrix, such as `turned 90° clockwise` or `mirrored`.
    package static func name(_ matrix: [Int32]) -> String {
        guard matrix.count == 9 else { return "upright" }
        let (a, b, c, d) = (Double(matrix[0]), Double(matrix[1]), Double(matrix[3]), Double(matrix[4]))
        let isMirrored = a * d - b * c < 0
        // The picture's right edge points along (a, b), with y downwards.
        let degrees = (atan2(b, a) * 180 / .pi).rounded()
        let turn = Int(degrees < 0 ? degrees + 360 : degrees) % 360
        if turn == 0 { return isMirrored ? "mirrored" : "upright" }
        return "turned \(turn)° clockwise" + (isMirrored ? ", mirrored" : "")
    }
}
