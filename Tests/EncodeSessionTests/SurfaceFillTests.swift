import Testing
import VideoBase

@testable import EncodeSession

@Suite struct SurfaceFillTests {
    /// Returns a sample that depends on its position.
    private func sample(_ x: Int, _ y: Int, _ plane: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: x * 7 + y * 31 + plane * 90)
    }

    /// Calls `body` with NV12 memory of whole macroblocks, which holds a picture of the visible size.
    private func withMacroblocks(
        _ visible: VideoSize, _ body: (PixelPlanes, (Int, Int, Int) -> UInt8) throws -> Void
    ) throws {
        let coded = visible.aligned(to: 16)
        let memory = try SystemPixelBuffer(format: .nv12, size: coded)
        try unsafe memory.withUnsafePlanes { planes in
            var planes = unsafe planes
            unsafe planes.size = visible
            unsafe planes.allocatedSize = coded
            let read = { (plane: Int, x: Int, y: Int) -> UInt8 in
                unsafe planes.base(plane).load(fromByteOffset: y * planes.pitch(plane) + x, as: UInt8.self)
            }
            try unsafe body(planes, read)
        }
    }

    /// Sweeps all sizes up to 40×40, odd ones included: beyond the edge the last column and row repeat, and the samples
    /// inside stay unchanged.
    @Test func edgePaddingRepeatsTheLastColumnAndRow() throws {
        var wrong = 0
        for width in 1...40 {
            for height in 1...40 {
                let visible = VideoSize(width: width, height: height)
                try unsafe withMacroblocks(visible) { planes, read in
                    let chromaWidth = (width + 1) / 2
                    let chromaHeight = (height + 1) / 2
                    for y in 0..<height {
                        for x in 0..<width {
                            unsafe planes.base(0).storeBytes(
                                of: sample(x, y, 0), toByteOffset: y * planes.pitch(0) + x, as: UInt8.self)
                        }
                    }
                    for y in 0..<chromaHeight {
                        for x in 0..<chromaWidth * 2 {
                            unsafe planes.base(1).storeBytes(
                                of: sample(x / 2, y, 1 + x % 2), toByteOffset: y * planes.pitch(1) + x, as: UInt8.self)
                        }
                    }
                    let coded = visible.aligned(to: 16)
                    unsafe EdgePadding.fill(planes, coded: coded)
                    for y in 0..<coded.height {
                        for x in 0..<coded.width where read(0, x, y) != sample(min(x, width - 1), min(y, height - 1), 0) {
                            wrong += 1
                        }
                    }
                    for y in 0..<coded.height / 2 {
                        for x in 0..<coded.width {
                            let expected = sample(min(x / 2, chromaWidth - 1), min(y, chromaHeight - 1), 1 + x % 2)
                            if read(1, x, y) != expected { wrong += 1 }
                        }
                    }
                }
            }
        }
        #expect(wrong == 0)
    }

    @Test func copyConvertsEveryFormatToNV12() throws {
        for format in [PixelFormat.nv12, .i420, .yv12] {
            for size in [
                VideoSize(width: 70, height: 6), VideoSize(width: 33, height: 5), VideoSize(width: 64, height: 2),
            ] {
                let source = try SystemPixelBuffer(format: format, size: size)
                try unsafe source.withUnsafePlanes { planes in
                    for plane in 0..<format.planeCount {
                        for y in 0..<format.rows(plane: plane, height: size.height) {
                            for x in 0..<format.rowBytes(plane: plane, width: size.width) {
                                let (column, component) =
                                    plane == 0
                                    ? (x, 0)
                                    : format == .nv12
                                        ? (x / 2, 1 + x % 2)
                                        : (x, format == .i420 ? plane : 3 - plane)
                                unsafe planes.base(plane).storeBytes(
                                    of: sample(column, y, component), toByteOffset: y * planes.pitch(plane) + x,
                                    as: UInt8.self)
                            }
                        }
                    }
                }
                var wrong = 0
                try unsafe withMacroblocks(size) { target, read in
                    try unsafe source.withUnsafePlanes { unsafe FrameCopy.copy($0, to: target) }
                    for y in 0..<size.height {
                        for x in 0..<size.width where read(0, x, y) != sample(x, y, 0) { wrong += 1 }
                    }
                    for y in 0..<(size.height + 1) / 2 {
                        for x in 0..<(size.width + 1) / 2 * 2 where read(1, x, y) != sample(x / 2, y, 1 + x % 2) {
                            wrong += 1
                        }
                    }
                }
                #expect(wrong == 0)
            }
        }
    }

    /// The last column and row repeat as whole samples, and samples in the low bits move to the high bits.
    @Test func tenBitCopyAndPaddingKeepWholeSamples() throws {
        var wrong = 0
        for width in stride(from: 2, through: 50, by: 4) {
            for height in [2, 6, 18] {
                let visible = VideoSize(width: width, height: height)
                let coded = visible.aligned(to: 16)
                let source = try SystemPixelBuffer(format: .i420p10, size: visible)
                let target = try SystemPixelBuffer(format: .p010, size: coded)
                func value(_ x: Int, _ y: Int, _ plane: Int) -> UInt16 { UInt16(x * 37 + y * 101 + plane * 411) & 1023 }
                try unsafe source.withUnsafePlanes { from in
                    for plane in 0..<3 {
                        for y in 0..<(plane == 0 ? height : height / 2) {
                            for x in 0..<(plane == 0 ? width : width / 2) {
                                unsafe from.base(plane).storeBytes(
                                    of: value(x, y, plane), toByteOffset: y * from.pitch(plane) + x * 2,
                                    as: UInt16.self)
                            }
                        }
                    }
                    try unsafe target.withUnsafePlanes { planes in
                        var planes = unsafe planes
                        unsafe planes.size = visible
                        unsafe planes.allocatedSize = coded
                        unsafe FrameCopy.copy(from, to: planes)
                        unsafe EdgePadding.fill(planes, coded: coded)
                        for y in 0..<coded.height {
                            for x in 0..<coded.width {
                                let luma = unsafe planes.base(0).load(
                                    fromByteOffset: y * planes.pitch(0) + x * 2, as: UInt16.self)
                                if luma != value(min(x, width - 1), min(y, height - 1), 0) << 6 { wrong += 1 }
                                let (column, row) = (min(x / 2, width / 2 - 1), min(y / 2, height / 2 - 1))
                                let chroma = unsafe planes.base(1).load(
                                    fromByteOffset: y / 2 * planes.pitch(1) + x * 2, as: UInt16.self)
                                if chroma != value(column, row, 1 + x % 2) << 6 { wrong += 1 }
                            }
                        }
                    }
                }
            }
        }
        #expect(wrong == 0)
    }
}
