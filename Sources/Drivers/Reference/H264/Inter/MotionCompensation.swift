/// Computes prediction samples from the planes of a reference picture.
package enum MotionCompensation {
    /// The source of the luma samples of a block at a quarter-sample position: one plane, or the average of two planes.
    struct LumaPlanes {
        let first: ElementPointer<UInt8>
        let second: ElementPointer<UInt8>
        let averaged: Bool

        /// `x` and `y` are the block's position in the picture in quarter samples.
        ///
        /// The two constants are tables of plane numbers, indexed by the fractions (first all of y fraction 0), with
        /// two bits for each number: 0 (whole samples), 1 (b, right), 2 (h, below) and 3 (j, both). See H.264
        /// 8.4.2.2.1. If the y fraction is 3, b or G comes from the next row. If the x fraction is 3, h or G comes from
        /// the next column.
        @inline(__always) init(_ planes: ReferencePlanes, stride: Int, x: Int, y: Int) {
            let fractionX = x & 3
            let fractionY = y & 3
            let index = (fractionY &* 4 &+ fractionX) &* 2
            let origin = planes.luma + ((y &>> 2) &* stride &+ (x &>> 2))
            let firstPlane = Int((0x54FE_5454 as UInt32) &>> UInt32(truncatingIfNeeded: index)) & 3
            let secondPlane = Int((0xBABA_BA00 as UInt32) &>> UInt32(truncatingIfNeeded: index)) & 3
            first = origin + (firstPlane &* planes.planeBytes &+ (fractionY == 3 ? stride : 0))
            second = origin + (secondPlane &* planes.planeBytes &+ (fractionX == 3 ? 1 : 0))
            averaged = (fractionX | fractionY) & 1 != 0
        }
    }

    /// Predicts the luma of a `width`×`height` block (width 8 or 16) at the quarter-sample position (`x`, `y`).
    @inline(__always) package static func luma(
        _ planes: ReferencePlanes, stride: Int, x: Int, y: Int, width: Int, height: Int,
        to destination: ElementPointer<UInt8>, _ destinationStride: Int
    ) {
        let source = LumaPlanes(planes, stride: stride, x: x, y: y)
        if source.averaged {
            average(
                source, stride: stride, destination: destination, destinationStride: destinationStride, width: width,
                height: height)
        } else {
            copy(
                source.first, stride: stride, destination: destination, destinationStride: destinationStride,
                width: width, height: height)
        }
    }

    @inline(never) static func average(
        _ source: LumaPlanes, stride: Int, destination: ElementPointer<UInt8>, destinationStride: Int,
        width: Int, height: Int
    ) {
        if width == 16 {
            for y in 0..<height {
                let a: Bytes = source.first.load(y &* stride)
                destination.store(y &* destinationStride, a.average(source.second.load(y &* stride)))
            }
        } else {
            for y in 0..<height {
                let a: HalfBytes = source.first.load(y &* stride)
                destination.store(y &* destinationStride, a.average(source.second.load(y &* stride)))
            }
        }
    }

    @inline(never) static func copy(
        _ source: ElementPointer<UInt8>, stride: Int, destination: ElementPointer<UInt8>, destinationStride: Int,
        width: Int, height: Int
    ) {
        if width == 16 {
            for y in 0..<height {
                destination.store(y &* destinationStride, source.load(y &* stride, as: Bytes.self))
            }
        } else {
            for y in 0..<height {
                destination.store(y &* destinationStride, source.load(y &* stride, as: HalfBytes.self))
            }
        }
    }

    /// Predicts the chroma of a `width`×`height` block (width 8 or 4 Cb/Cr pairs), H.264 8.4.2.2.2. The position (`x`,
    /// `y`) is in eighths of a chroma sample, which is the same number as luma's position in quarter samples.
    @inline(never) package static func chroma(
        _ planes: ReferencePlanes, stride: Int, x: Int, y: Int, width: Int, height: Int,
        toCb cb: ElementPointer<UInt8>, cr: ElementPointer<UInt8>, _ destinationStride: Int
    ) {
        let origin = planes.chroma + ((y &>> 3) &* stride &+ (x &>> 3) &* 2)
        if (x | y) & 7 == 0 && width == 8 {
            for row in 0..<height {
                let pairs: Bytes = origin.load(row &* stride)
                cb.store(row &* destinationStride, pairs.evenHalf)
                cr.store(row &* destinationStride, pairs.oddHalf)
            }
            return
        }
        let right = Words(repeating: Int16(truncatingIfNeeded: x & 7))
        let left = 8 &- right
        let below = Words(repeating: Int16(truncatingIfNeeded: y & 7))
        let above = 8 &- below
        @inline(__always) func mixed(_ elements: ElementPointer<UInt8>) -> Words {
            elements.load(0, as: HalfBytes.self).words &* left &+ elements.load(2, as: HalfBytes.self).words &* right
        }
        @inline(__always) func sample(_ a: Words, _ b: Words) -> HalfBytes {
            ((a &* above &+ b &* below &+ 32) &>> 6).bytes
        }
        if width == 8 {
            // Cb has the even bytes, Cr the odd ones.
            @inline(__always) func line(_ row: Int) -> (cb: Words, cr: Words) {
                let pairs: Bytes = origin.load(row &* stride)
                let next: Bytes = origin.load(row &* stride &+ 2)
                return (
                    pairs.evenWords &* left &+ next.evenWords &* right, pairs.oddWords &* left &+ next.oddWords &* right
                )
            }
            var a = line(0)
            for row in 0..<height {
                let b = line(row &+ 1)
                cb.store(row &* destinationStride, sample(a.cb, b.cb))
                cr.store(row &* destinationStride, sample(a.cr, b.cr))
                a = b
            }
        } else {
            var a = mixed(origin)
            for row in 0..<height {
                let b = mixed(origin + (row &+ 1) &* stride)
                let pairs = sample(a, b)
                cb.store(row &* destinationStride, pairs.evenHalf)
                cr.store(row &* destinationStride, pairs.oddHalf)
                a = b
            }
        }
    }
}
