/// IntraPredModeY and IntraPredModeC, H.265 table 8-1.
package enum HEVCIntraMode {
    package static let planar = 0
    package static let dc = 1
    package static let horizontal = 10
    /// The first mode that predicts from the samples above; lower angular modes predict from the left.
    static let firstVertical = 18
    package static let vertical = 26
    package static let count = 35

    /// Returns intraPredAngle, table 8-5.
    static func angle(_ mode: Int) -> Int {
        let distance = mode < firstVertical ? horizontal &- mode : mode &- vertical
        let steps = SIMD16<Int8>(0, 2, 5, 9, 13, 17, 21, 26, 32, 0, 0, 0, 0, 0, 0, 0)
        let angle = Int(steps[abs(distance)])
        return distance < 0 ? 0 &- angle : angle
    }

    /// Returns −invAngle, table 8-6, of a mode with a negative angle.
    static func inverseAngle(_ mode: Int) -> Int {
        let distance = mode < firstVertical ? mode &- horizontal : vertical &- mode
        let inverse = SIMD16<Int16>(0, 4096, 1638, 910, 630, 482, 390, 315, 256, 0, 0, 0, 0, 0, 0, 0)
        return Int(inverse[distance])
    }

    /// Returns filterFlag of 8.4.4.2.3 for luma: whether the mode predicts from filtered samples.
    static func isFiltered(_ mode: Int, log2Size: Int) -> Bool {
        if mode == dc || log2Size == 2 { return false }
        let distance = Swift.min(abs(mode &- vertical), abs(mode &- horizontal))
        return distance > (log2Size == 3 ? 7 : (log2Size == 4 ? 1 : 0))
    }
}

extension HEVCIntraReferences {
    /// Predicts the block whose neighboring samples were loaded last, H.265 8.4.4.2.4 to 8.4.4.2.6.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package func predict(mode: Int, log2Size: Int, isLuma: Bool, to destination: ElementPointer<Sample>, _ stride: Int) {
        let size = 1 &<< log2Size
        let isFiltered = isLuma && HEVCIntraMode.isFiltered(mode, log2Size: log2Size)
        let e = isFiltered ? filtered : plain
        let hasEdgeFilter = isLuma && size < 32
        switch mode {
        case HEVCIntraMode.planar:
            planar(e, log2Size, destination, stride)
        case HEVCIntraMode.dc:
            dc(log2Size, hasEdgeFilter: hasEdgeFilter, destination, stride)
        default:
            let mirroredSide = isFiltered ? filteredMirrored : mirrored
            let isVertical = mode >= HEVCIntraMode.firstVertical
            let mainSide = isVertical ? e : mirroredSide
            let angle = HEVCIntraMode.angle(mode)
            if angle < 0 {
                project(
                    mainSide, side: isVertical ? mirroredSide : e, angle: angle,
                    inverse: HEVCIntraMode.inverseAngle(mode), size: size)
            }
            let reference = angle < 0 ? projected : mainSide
            if isVertical {
                predictVertical(reference, angle: angle, size: size, destination: destination, stride: stride)
            } else {
                predictHorizontal(reference, angle: angle, size: size, destination: destination, stride: stride)
            }
            if angle == 0 && hasEdgeFilter {
                // The edge filter: the first column (vertical mode) or row (horizontal mode) follows the gradient of
                // the samples on the other side.
                let corner = Int(plain[0])
                let first = Int(mainSide[1])
                let other = isVertical ? mirroredSide : e
                let step = isVertical ? stride : 1
                for i in 0..<size {
                    let value = first &+ (Int(other[i &+ 1]) &- corner) &>> 1
                    destination[i &* step] = Sample(
                        truncatingIfNeeded: Swift.min(Swift.max(value, 0), Sample.largest))
                }
            }
        }
    }

    /// Builds the reference array of a negative angle: the main side's samples, preceded by projected samples of the
    /// other side.
    private func project(
        _ mainSide: ElementPointer<Sample>, side: ElementPointer<Sample>, angle: Int, inverse: Int, size: Int
    ) {
        projected.copy(from: mainSide, count: size &+ 1)
        let last = (size &* angle) &>> 5
        var i = -1
        while i >= last {
            projected[i] = side[(0 &- i &* inverse &+ 128) &>> 8]
            i &-= 1
        }
    }

    /// Returns eight predicted samples of line y, from x on, in the coordinates of the main reference side.
    @inline(__always) private func line(_ reference: ElementPointer<Sample>, _ angle: Int, x: Int, y: Int) -> Words {
        let position = (y &+ 1) &* angle
        let index = x &+ position &>> 5 &+ 1
        let fraction = Int16(truncatingIfNeeded: position & 31)
        let a = reference.words(index)
        let b = reference.words(index &+ 1)
        return (a &* (32 &- fraction) &+ b &* fraction &+ 16) &>> 5
    }

    private func predictVertical(
        _ reference: ElementPointer<Sample>, angle: Int, size: Int, destination: ElementPointer<Sample>,
        stride: Int
    ) {
        if size == 4 {
            for y in 0..<4 { destination.storeFourWords(y &* stride, line(reference, angle, x: 0, y: y)) }
            return
        }
        for y in 0..<size {
            var x = 0
            while x < size {
                destination.storeWords(y &* stride &+ x, line(reference, angle, x: x, y: y))
                x &+= 8
            }
        }
    }

    private func predictHorizontal(
        _ reference: ElementPointer<Sample>, angle: Int, size: Int, destination: ElementPointer<Sample>, stride: Int
    ) {
        @inline(__always) func row(_ x: Int, _ y: Int) -> Words { line(reference, angle, x: x, y: y) }
        if size == 4 {
            let block = HEVCBlock4x4(
                upper: Words(lowHalf: row(0, 0).lowHalf, highHalf: row(0, 1).lowHalf),
                lower: Words(lowHalf: row(0, 2).lowHalf, highHalf: row(0, 3).lowHalf)
            ).transposed
            destination.storeFourWords(0, block.upper)
            destination.storeFourWords(stride, Words(lowHalf: block.upper.highHalf, highHalf: .zero))
            destination.storeFourWords(2 &* stride, block.lower)
            destination.storeFourWords(3 &* stride, Words(lowHalf: block.lower.highHalf, highHalf: .zero))
            return
        }
        var y = 0
        while y < size {
            var x = 0
            while x < size {
                let t = Block8x8(
                    row(x, y), row(x, y &+ 1), row(x, y &+ 2), row(x, y &+ 3), row(x, y &+ 4), row(x, y &+ 5),
                    row(x, y &+ 6), row(x, y &+ 7)
                ).transposed
                let d = destination + (x &* stride &+ y)
                d.storeWords(0, t.r0)
                d.storeWords(stride, t.r1)
                d.storeWords(2 &* stride, t.r2)
                d.storeWords(3 &* stride, t.r3)
                d.storeWords(4 &* stride, t.r4)
                d.storeWords(5 &* stride, t.r5)
                d.storeWords(6 &* stride, t.r6)
                d.storeWords(7 &* stride, t.r7)
                x &+= 8
            }
            y &+= 8
        }
    }

    private func planar(_ e: ElementPointer<Sample>, _ log2Size: Int, _ destination: ElementPointer<Sample>, _ stride: Int) {
        let size = 1 &<< log2Size
        let right = Int16(truncatingIfNeeded: e[size &+ 1])
        let below = Int16(truncatingIfNeeded: e[-1 &- size])
        let length = Int16(truncatingIfNeeded: size)
        let shift = SIMD8<UInt16>(repeating: UInt16(truncatingIfNeeded: log2Size &+ 1))
        var x = 0
        while x < size {
            let rightWeight = Words(1, 2, 3, 4, 5, 6, 7, 8) &+ Int16(truncatingIfNeeded: x)
            let above = e.words(1 &+ x)
            let leftWeight = length &- rightWeight
            // The sum without the left sample's term, and its increment for each row. All values fit unsigned 16 bits.
            var column = rightWeight &* right &+ above &* length &+ length
            let step = Words(repeating: below) &- above
            for y in 0..<size {
                column = column &+ step
                let left = Int16(truncatingIfNeeded: e[-1 &- y])
                let value = ((column &+ leftWeight &* left).unsignedWords &>> shift).signedWords
                if size == 4 {
                    destination.storeFourWords(y &* stride, value)
                } else {
                    destination.storeWords(y &* stride &+ x, value)
                }
            }
            x &+= 8
        }
    }

    private func dc(_ log2Size: Int, hasEdgeFilter: Bool, _ destination: ElementPointer<Sample>, _ stride: Int) {
        let e = plain
        let size = 1 &<< log2Size
        var sum = size
        for i in 1...size { sum &+= Int(e[i]) &+ Int(e[0 &- i]) }
        let mean = sum &>> (log2Size &+ 1)
        let sample = Sample(truncatingIfNeeded: mean)
        for y in 0..<size { (destination + y &* stride).fill(sample, count: size) }
        if !hasEdgeFilter { return }
        destination[0] = Sample(truncatingIfNeeded: (Int(e[-1]) &+ 2 &* mean &+ Int(e[1]) &+ 2) &>> 2)
        for i in 1..<size {
            destination[i] = Sample(truncatingIfNeeded: (Int(e[i &+ 1]) &+ 3 &* mean &+ 2) &>> 2)
            destination[i &* stride] = Sample(truncatingIfNeeded: (Int(e[-1 &- i]) &+ 3 &* mean &+ 2) &>> 2)
        }
    }
}
