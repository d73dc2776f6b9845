@testable import ReferenceDriver

/// Setters for single elements.
extension MacroblockSyntax {
    func setIntraMode(_ block: Int, _ mode: Int8) { intraModes[block] = mode }

    /// Sets the motion of a quadrant: 0…3 for list 0, 4…7 for list 1.
    func setMotion(_ quadrant: Int, reference: Int8, difference: MotionVector) {
        referenceIndices[quadrant] = reference
        motionDifferences[quadrant] = difference
    }

    /// Sets a level. `index` is as in `MacroblockLevels`.
    func setLevel(_ index: Int, _ level: Int16) { levels[index] = level }

    /// Sets a count. `block` is as in `MacroblockLevels`.
    func setNonZeroCount(_ block: Int, _ count: UInt8) { nonZeroCounts[block] = count }
}
