extension PixelArea {
    /// Deinterlaces a picture by "bob": copies the rows of one field, and replaces each other row by the mean of the
    /// rows above and below.
    ///
    /// - Parameter target: the area for the result, which must have the same format.
    func bob(_ field: ProcessOperation.Field, into target: PixelArea, width: Int, height: Int) {
        for (index, plane) in layout.format.planes.enumerated() {
            let rows = plane.rows(height: height)
            let count = plane.rowBytes(width: width)
            let parity = field == .top ? 0 : min(1, rows - 1)
            let last = rows - 1 - (rows - 1 - parity) % 2
            for row in 0..<rows {
                let result = target.start(plane: index, row: row)
                let above = min(max(row - (row - parity) & 1, parity), last)
                let below = min(max(row + (row - parity) & 1, parity), last)
                if above == below {
                    result.copy(from: start(plane: index, row: above), count: count)
                } else if layout.isWide {
                    meanOfWords(start(plane: index, row: above), start(plane: index, row: below), result, count)
                } else {
                    meanOfBytes(start(plane: index, row: above), start(plane: index, row: below), result, count)
                }
            }
        }
    }

    private func meanOfBytes(_ above: ElementPointer<UInt8>, _ below: ElementPointer<UInt8>, _ result: ElementPointer<UInt8>, _ count: Int) {
        var offset = 0
        while offset + 16 <= count {
            result.store(offset, mean(above.load(offset, as: SIMD16<UInt8>.self), below.load(offset)))
            offset += 16
        }
        while offset < count {
            result[offset] = UInt8((Int(above[offset]) + Int(below[offset]) + 1) / 2)
            offset += 1
        }
    }

    private func meanOfWords(_ above: ElementPointer<UInt8>, _ below: ElementPointer<UInt8>, _ result: ElementPointer<UInt8>, _ count: Int) {
        var offset = 0
        while offset + 16 <= count {
            result.store(offset, mean(above.load(offset, as: SIMD8<UInt16>.self), below.load(offset)))
            offset += 16
        }
        while offset < count {
            let sum = Int(above.load(offset, as: UInt16.self)) + Int(below.load(offset, as: UInt16.self))
            result.store(offset, UInt16((sum + 1) / 2))
            offset += 2
        }
    }

    /// Returns the mean of `a` and `b`, rounded up.
    private func mean<Vector: SIMD>(_ a: Vector, _ b: Vector) -> Vector where Vector.Scalar: FixedWidthInteger {
        (a | b) &- ((a ^ b) &>> Vector(repeating: 1))
    }
}
