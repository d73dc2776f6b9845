/// A motion vector, or the difference of two, in quarter samples.
package struct MotionVector: Equatable, BitwiseCopyable, Sendable {
    var x: Int16
    var y: Int16
    package static let zero = MotionVector(x: 0, y: 0)
}
