/// Filling by element, for those outside the driver that do not use `ElementPointer`.
extension MacroblockSyntax {
    package func setIntraMode(_ block: Int, _ mode: Int8) { intraModes.elements[block] = mode }

    /// `quadrant` 0…3 is of list 0, 4…7 of list 1.
    package func setMotion(_ quadrant: Int, reference: Int8, difference: MotionVector) {
        referenceIndices.elements[quadrant] = reference
        motionDifferences.elements[quadrant] = difference
    }

    /// `place` as in `MacroblockLevels`.
    package func setLevel(_ index: Int, _ level: Int16) { levels.elements[index] = level }

    /// `block` as in `MacroblockLevels`.
    package func setNonZeroCount(_ block: Int, _ count: UInt8) { nonZeroCounts.elements[block] = count }
}

extension MotionVector {
    /// In quarter samples.
    package init(_ x: Int16, _ y: Int16) {
        self.x = x
        self.y = y
    }
}
