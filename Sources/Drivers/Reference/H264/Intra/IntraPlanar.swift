/// Intra 16×16 and chroma prediction, H.264 8.3.3 and 8.3.4, from the neighboring samples around the block in memory.
package enum IntraPlanar {
    /// Predicts 16×16 luma samples. `mode` is Intra16x16PredMode: 0 vertical, 1 horizontal, 2 DC, 3 plane. In the
    /// modes 0 and 2 all rows are equal, and only `equalRows` are written.
    @inline(never) package static func predict16x16(
        mode: Int, around block: ElementPointer<UInt8>, left: Bool, top: Bool, to destination: ElementPointer<UInt8>,
        equalRows: Int = 16
    ) {
        let stride = H264Scratch.workStride
        switch mode {
        case 0:
            let row: Bytes = block.load(0 &- stride)
            for y in 0..<equalRows { destination.store(y &* stride, row) }
        case 1:
            for y in 0..<16 { destination.store(y &* stride, Bytes(repeating: block[y &* stride &- 1])) }
        case 3:
            plane(size: 16, around: block, to: destination)
        default:
            var sum = 0
            if top { for i in 0..<16 { sum &+= Int(block[i &- stride]) } }
            if left { for i in 0..<16 { sum &+= Int(block[i &* stride &- 1]) } }
            let mean = left && top ? (sum &+ 16) &>> 5 : (left || top ? (sum &+ 8) &>> 4 : 128)
            let row = Bytes(repeating: UInt8(truncatingIfNeeded: mean))
            for y in 0..<equalRows { destination.store(y &* stride, row) }
        }
    }

    /// Predicts one 8×8 chroma block. `mode` is intra_chroma_pred_mode: 0 DC, 1 horizontal, 2 vertical, 3 plane.
    @inline(never) package static func predictChroma(
        mode: Int, around block: ElementPointer<UInt8>, left: Bool, top: Bool, to destination: ElementPointer<UInt8>
    ) {
        let stride = H264Scratch.workStride
        switch mode {
        case 1:
            for y in 0..<8 { destination.store(y &* stride, HalfBytes(repeating: block[y &* stride &- 1])) }
        case 2:
            let row: HalfBytes = block.load(0 &- stride)
            for y in 0..<8 { destination.store(y &* stride, row) }
        case 3:
            plane(size: 8, around: block, to: destination)
        default:
            chromaDC(around: block, left: left, top: top, to: destination)
        }
    }

    private static func chromaDC(around block: ElementPointer<UInt8>, left: Bool, top: Bool, to destination: ElementPointer<UInt8>) {
        let stride = H264Scratch.workStride
        var above = SIMD2<Int>(0, 0)
        var beside = SIMD2<Int>(0, 0)
        for i in 0..<4 {
            above.x &+= Int(block[i &- stride])
            above.y &+= Int(block[i &+ 4 &- stride])
            beside.x &+= Int(block[i &* stride &- 1])
            beside.y &+= Int(block[(i &+ 4) &* stride &- 1])
        }
        for quarter in 0..<4 {
            let a = quarter & 1 == 0 ? above.x : above.y
            let b = quarter < 2 ? beside.x : beside.y
            let mean: Int
            if left && top && (quarter == 0 || quarter == 3) {
                mean = (a &+ b &+ 4) &>> 3
            } else if top && (quarter != 2 || !left) {
                mean = (a &+ 2) &>> 2
            } else {
                mean = left ? (b &+ 2) &>> 2 : 128
            }
            let to = destination + ((quarter / 2) &* 4 &* stride &+ (quarter & 1) &* 4)
            for y in 0..<4 { to.store(y &* stride, UInt32(truncatingIfNeeded: mean) &* 0x0101_0101) }
        }
    }

    @inline(__always) private static func plane(size: Int, around block: ElementPointer<UInt8>, to destination: ElementPointer<UInt8>) {
        let stride = H264Scratch.workStride
        let half = size / 2
        var horizontal = 0
        var vertical = 0
        for i in 0..<half {
            horizontal &+=
                (i &+ 1)
                &* (Int(block[half &+ i &- stride]) &- Int(block[half &- 2 &- i &- stride]))
            vertical &+=
                (i &+ 1)
                &* (Int(block[(half &+ i) &* stride &- 1]) &- Int(block[(half &- 2 &- i) &* stride &- 1]))
        }
        let slope = size == 16 ? 5 : 34
        let b = (slope &* horizontal &+ 32) &>> 6
        let c = (slope &* vertical &+ 32) &>> 6
        let a = 16 &* (Int(block[(size &- 1) &* stride &- 1]) &+ Int(block[size &- 1 &- stride]))
        let ramp = Words(0, 1, 2, 3, 4, 5, 6, 7) &* Words(repeating: Int16(truncatingIfNeeded: b))
        for y in 0..<size {
            let start = a &+ b &* (1 &- half) &+ c &* (y &+ 1 &- half) &+ 16
            var x = 0
            while x < size {
                // No overflow in 16 bits: |a + …| < 8160 + 2 · 8 · 717 + 16.
                let values = Words(repeating: Int16(truncatingIfNeeded: start &+ b &* x)) &+ ramp
                destination.store(y &* stride &+ x, (values &>> 5).clippedBytes)
                x &+= 8
            }
        }
    }
}
