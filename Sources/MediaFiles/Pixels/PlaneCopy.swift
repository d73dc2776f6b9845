import VideoBase

/// Copies and fills pictures of one format.
enum PlaneCopy {
    /// Copies the visible part of `source` to `destination`, which has the same format and size.
    // SAFETY: both have `rows` rows of `rowBytes` bytes in every plane of their format.
    @unsafe static func copy(_ source: PixelPlanes, to destination: PixelPlanes) {
        for plane in 0..<(unsafe source.format.planeCount) {
            unsafe copy(
                source.base(plane), pitch: source.pitch(plane), to: destination.base(plane),
                pitch: destination.pitch(plane),
                rowBytes: source.format.rowBytes(plane: plane, width: source.size.width),
                rows: source.format.rows(plane: plane, height: source.size.height))
        }
    }

    @unsafe static func copy(
        _ source: UnsafeRawPointer, pitch sourcePitch: Int, to destination: UnsafeMutableRawPointer, pitch: Int,
        rowBytes: Int, rows: Int
    ) {
        if sourcePitch == rowBytes, pitch == rowBytes {
            unsafe destination.copyMemory(from: source, byteCount: rowBytes * rows)
            return
        }
        for row in 0..<rows {
            unsafe (destination + row * pitch).copyMemory(from: source + row * sourcePitch, byteCount: rowBytes)
        }
    }

    /// Converts planar 4:2:0 to semi-planar (I420 or YV12 to NV12) of the same size.
    @unsafe static func interleave(_ source: PixelPlanes, to destination: PixelPlanes) {
        let size = unsafe source.size
        let (u, v) = unsafe source.format == .yv12 ? (2, 1) : (1, 2)
        unsafe copy(
            source.base(0), pitch: source.pitch(0), to: destination.base(0), pitch: destination.pitch(0),
            rowBytes: size.width, rows: size.height)
        unsafe ChromaInterleave.interleave(
            u: source.base(u), uPitch: source.pitch(u), v: source.base(v), vPitch: source.pitch(v),
            to: destination.base(1), pitch: destination.pitch(1), width: (size.width + 1) / 2,
            rows: (size.height + 1) / 2)
    }

    /// Fills the visible part with black.
    @unsafe static func fillBlack(_ planes: PixelPlanes, fullRange: Bool) {
        let format = unsafe planes.format
        let black: UInt8 = fullRange ? 0 : 16
        for plane in 0..<format.planeCount {
            let pattern: [UInt8]
            switch format {
            case .nv12, .i420, .yv12, .i422, .i444, .gray: pattern = plane == 0 ? [black] : [128]
            case .yuyv: pattern = [black, 128]
            case .uyvy: pattern = [128, black]
            case .rgb24: pattern = [0]
            case .bgra, .rgba: pattern = [0, 0, 0, 255]
            // Words with the low byte first. Black is 64 of 1023 in limited range.
            case .p010: pattern = plane == 0 ? [0, black] : [0, 128]
            case .i420p10: pattern = plane == 0 ? [fullRange ? 0 : 64, 0] : [0, 2]
            }
            let rowBytes = unsafe format.rowBytes(plane: plane, width: planes.size.width)
            for row in 0..<(unsafe format.rows(plane: plane, height: planes.size.height)) {
                let start = unsafe planes.base(plane) + row * planes.pitch(plane)
                if pattern.count == 1 {
                    _ = unsafe start.initializeMemory(as: UInt8.self, repeating: pattern[0], count: rowBytes)
                } else {
                    for index in 0..<rowBytes {
                        unsafe start.storeBytes(of: pattern[index % pattern.count], toByteOffset: index, as: UInt8.self)
                    }
                }
            }
        }
    }
}
