/// A motion vector, or the difference of two, in quarter samples.
package struct MotionVector: Equatable, BitwiseCopyable, Sendable {
    var x: Int16
    var y: Int16
    package static let zero = MotionVector(x: 0, y: 0)
}

extension MotionVector {
    /// Makes a vector from components in quarter samples.
    package init(_ x: Int16, _ y: Int16) {
        self.x = x
        self.y = y
    }
}
