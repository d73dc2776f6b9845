extension HEVCMotionPredictor {
    /// Returns mvpListLX for a reference of list `list`, 8.5.3.2.6. `around` is the result of `availability.neighbors`
    /// for the block; it is the same for all references.
    func predictors(
        _ block: HEVCMotionBlock, _ around: HEVCMotionNeighbors, list: Int, reference: Int
    ) -> (MotionVector, MotionVector) {
        let target = order(list, reference)
        let isLongTarget = isLong(list, reference)
        let isScaled = !around.a0.isNone || !around.a1.isNone
        var a = exact(around.a0, list, target) ?? exact(around.a1, list, target)
        if a == nil && isScaled {
            a = scaled(around.a0, list, target, isLongTarget) ?? scaled(around.a1, list, target, isLongTarget)
        }
        var b =
            exact(around.b0, list, target) ?? exact(around.b1, list, target) ?? exact(around.b2, list, target)
        if !isScaled {
            if b != nil { a = b }
            b =
                scaled(around.b0, list, target, isLongTarget) ?? scaled(around.b1, list, target, isLongTarget)
                ?? scaled(around.b2, list, target, isLongTarget)
        }
        if let first = a, let second = b, first != second { return (first, second) }
        // At most one spatial candidate remains. The temporal candidate follows it.
        let temporal = temporal(block, list: list, reference: reference)
        if let first = a ?? b { return (first, temporal ?? .zero) }
        return (temporal ?? .zero, .zero)
    }

    /// Returns a neighbor's vector that refers to the same picture, from the same list first.
    @inline(__always) private func exact(_ motion: HEVCMotion, _ list: Int, _ target: Int32) -> MotionVector? {
        let same = motion.reference(list)
        if same >= 0 && order(list, same) == target { return motion.vector(list) }
        let other = motion.reference(1 &- list)
        if other >= 0 && order(1 &- list, other) == target { return motion.vector(1 &- list) }
        return nil
    }

    /// Returns a neighbor's vector to any picture, scaled by the picture distances. A long-term reference only matches
    /// a long-term reference.
    @inline(__always) private func scaled(
        _ motion: HEVCMotion, _ list: Int, _ target: Int32, _ isLongTarget: Bool
    ) -> MotionVector? {
        var from = list
        var reference = motion.reference(from)
        if reference < 0 || isLong(from, reference) != isLongTarget {
            from = 1 &- list
            reference = motion.reference(from)
            if reference < 0 || isLong(from, reference) != isLongTarget { return nil }
        }
        let vector = motion.vector(from)
        let source = order(from, reference)
        if isLongTarget || source == target { return vector }
        return vector.scaled(target: Int(poc &- target), source: Int(poc &- source))
    }

    /// Returns the temporal vector predictor, 8.5.3.2.8.
    @inline(__always) func temporal(_ block: HEVCMotionBlock, list: Int, reference: Int) -> MotionVector? {
        guard let collocated else { return nil }
        let (right, below) = (block.x &+ block.width, block.y &+ block.height)
        let log2Tree = availability.log2Tree
        if block.y &>> log2Tree == below &>> log2Tree && below < availability.height && right < availability.width {
            let area = (below &>> 4) &* areaColumns &+ right &>> 4
            if let vector = temporal(collocated[area], list: list, reference: reference) { return vector }
        }
        let area =
            ((block.y &+ block.height &>> 1) &>> 4) &* areaColumns &+ (block.x &+ block.width &>> 1) &>> 4
        return temporal(collocated[area], list: list, reference: reference)
    }

    /// Returns the vector of one area of the collocated picture, 8.5.3.2.9.
    @inline(__always) private func temporal(
        _ stored: HEVCStoredMotion, list: Int, reference: Int
    ) -> MotionVector? {
        if stored.motion.isNone { return nil }
        let from =
            stored.motion.reference0 < 0
            ? 1 : stored.motion.reference1 < 0 ? 0 : hasNoBackward ? list : collocatedList
        let isLongTarget = isLong(list, reference)
        if (from == 0 ? stored.isLongTerm0 : stored.isLongTerm1) != isLongTarget { return nil }
        let vector = stored.motion.vector(from)
        let source = Int(collocatedPOC &- (from == 0 ? stored.poc0 : stored.poc1))
        let target = Int(poc &- order(list, reference))
        return isLongTarget || source == target ? vector : vector.scaled(target: target, source: source)
    }
}

extension MotionVector {
    /// Returns the vector scaled from the distance `source` to the distance `target` (differences of PicOrderCntVal),
    /// H.265 (8-179) to (8-183).
    @inline(__always) func scaled(target: Int, source: Int) -> MotionVector {
        let tb = min(max(target, -128), 127)
        let td = min(max(source, -128), 127)
        // The distance is 0 only if a stream is invalid: a picture cannot refer to itself. The check avoids a division
        // by zero.
        guard td != 0 else { return self }
        let tx = (16384 &+ abs(td) &>> 1) / td
        let factor = min(max((tb &* tx &+ 32) &>> 6, -4096), 4095)
        return MotionVector(x: Self.scaled(x, factor), y: Self.scaled(y, factor))
    }

    @inline(__always) private static func scaled(_ value: Int16, _ factor: Int) -> Int16 {
        let product = Int(value) &* factor
        let magnitude = (abs(product) &+ 127) &>> 8
        return Int16(truncatingIfNeeded: min(max(product < 0 ? -magnitude : magnitude, -32768), 32767))
    }
}
