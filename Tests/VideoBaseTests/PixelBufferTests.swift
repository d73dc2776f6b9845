import Testing
import VideoBase

@Suite struct PixelBufferTests {
    /// `withRows` visits each visible byte of a picture once, at the address that `withUnsafePlanes` has for it.
    @Test(arguments: PixelFormat.allCases) func rowsAreThoseOfThePlanes(_ format: PixelFormat) throws {
        for size in [VideoSize(width: 5, height: 3), VideoSize(width: 64, height: 2), VideoSize(width: 1, height: 1)] {
            let buffer = try SystemPixelBuffer(format: format, size: size)
            var count = 0
            try buffer.withRows { plane, row, bytes in
                #expect(bytes.count == format.rowBytes(plane: plane, width: size.width))
                for index in bytes.indices {
                    bytes[index] = UInt8(truncatingIfNeeded: plane * 101 + row * 17 + index)
                    count += 1
                }
            }
            #expect(count == format.frameBytes(size))
            try unsafe buffer.withUnsafePlanes { planes in
                for plane in 0..<format.planeCount {
                    for row in 0..<format.rows(plane: plane, height: size.height) {
                        for index in 0..<format.rowBytes(plane: plane, width: size.width) {
                            let byte = unsafe (planes.base(plane) + row * planes.pitch(plane) + index).load(as: UInt8.self)
                            #expect(byte == UInt8(truncatingIfNeeded: plane * 101 + row * 17 + index))
                        }
                    }
                }
            }
        }
    }
}
