/// Filling by element, for those outside the driver who have no business with lanes.
extension MacroblockSyntax {
    package func setIntraMode(_ block: Int, _ mode: Int8) { intraModes.lane[block] = mode }

    /// `quadrant` 0…3 is of list 0, 4…7 of list 1.
    package func setMotion(_ quadrant: Int, reference: Int8, difference: MotionVector) {
        referenceIndices.lane[quadrant] = reference
        motionDifferences.lane[quadrant] = difference
    }

    /// `place` as in `MacroblockLevels`.
    package func setLevel(_ place: Int, _ level: Int16) { levels.lane[place] = level }

    /// `block` as in `MacroblockLevels`.
    package func setNonZeroCount(_ block: Int, _ count: UInt8) { nonZeroCounts.lane[block] = count }
}

extension MotionVector {
    /// In quarter samples.
    package init(_ x: Int16, _ y: Int16) {
        self.x = x
        self.y = y
    }
}
