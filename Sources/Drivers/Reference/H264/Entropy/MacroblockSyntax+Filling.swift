/// Setters for single elements. Code outside the driver uses them instead of `ElementPointer`.
extension MacroblockSyntax {
    package func setIntraMode(_ block: Int, _ mode: Int8) { intraModes.elements[block] = mode }

    /// Sets the motion of a quadrant: 0…3 for list 0, 4…7 for list 1.
    package func setMotion(_ quadrant: Int, reference: Int8, difference: MotionVector) {
        referenceIndices.elements[quadrant] = reference
        motionDifferences.elements[quadrant] = difference
    }

    /// Sets a level. `index` is as in `MacroblockLevels`.
    package func setLevel(_ index: Int, _ level: Int16) { levels.elements[index] = level }

    /// Sets a count. `block` is as in `MacroblockLevels`.
    package func setNonZeroCount(_ block: Int, _ count: UInt8) { nonZeroCounts.elements[block] = count }
}

extension MotionVector {
    /// Makes a vector from components in quarter samples.
    package init(_ x: Int16, _ y: Int16) {
        self.x = x
        self.y = y
    }
}
