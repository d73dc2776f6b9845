import VideoBase

/// Copies 4:2:0 pictures between layouts and depths of 8 and 10 bits.
///
/// Samples are scaled by 4, as H.273 specifies for limited range: 16 becomes 64, and 235 becomes 940. In full-range
/// luma the high bits are repeated below, so that 255 becomes 1023. The conversion to 8 bits rounds to the nearest
/// value.
enum SampleDepth {
    /// The position of a component's samples in a plane.
    private struct Layout {
        var plane: Int
        /// The number of samples from the row's first to the component's first.
        var first = 0
        /// The number of samples from one of the component to the next.
        var step = 1
        /// The number of zero bits below the sample's bits.
        var shift: UInt16 = 0

        /// Describes the samples of a component. Returns nil for formats that are not 4:2:0.
        init?(_ format: PixelFormat, component: Int) {
            switch format {
            case .i420, .i420p10: plane = component
            case .yv12: plane = component == 0 ? 0 : 3 - component
            case .nv12, .p010:
                plane = min(component, 1)
                if component > 0 { (first, step) = (component - 1, 2) }
                if format == .p010 { shift = 6 }
            default: return nil
            }
        }
    }

    /// Whether `convert` supports the two formats.
    static func converts(_ source: PixelFormat, _ destination: PixelFormat) -> Bool {
        Layout(source, component: 0) != nil && Layout(destination, component: 0) != nil
            && (source.bitDepth > 8 || destination.bitDepth > 8)
    }

    /// Writes the picture of `source` over the visible part of `destination`, which has the same size. `converts` must
    /// be true for the formats.
    // SAFETY: the planes have the sizes that their format and size state. Rows and counts are those of the visible
    // part.
    @unsafe static func convert(_ source: PixelPlanes, to destination: PixelPlanes, fullRange: Bool) {
        let size = unsafe source.size
        for component in 0..<3 {
            guard let from = unsafe Layout(source.format, component: component),
                let to = unsafe Layout(destination.format, component: component)
            else { return }
            let count = component == 0 ? size.width : (size.width + 1) / 2
            for row in 0..<(component == 0 ? size.height : (size.height + 1) / 2) {
                let input = unsafe UnsafeRawPointer(source.base(from.plane) + row * source.pitch(from.plane))
                let output = unsafe destination.base(to.plane) + row * destination.pitch(to.plane)
                switch unsafe (source.format.bitDepth > 8, destination.format.bitDepth > 8) {
                case (false, true):
                    unsafe widen(input, as: from, to: output, as: to, count: count, fills: fullRange && component == 0)
                case (true, false): unsafe narrow(input, as: from, to: output, as: to, count: count)
                default: unsafe move(input, as: from, to: output, as: to, count: count)
                }
            }
        }
    }

    // SAFETY: for all three functions, the caller provides `count` samples of the layouts at both pointers.
    @unsafe private static func widen(
        _ input: UnsafeRawPointer, as from: Layout, to output: UnsafeMutableRawPointer, as to: Layout, count: Int,
        fills: Bool
    ) {
        let source = unsafe input.assumingMemoryBound(to: UInt8.self) + from.first
        let destination = unsafe output.assumingMemoryBound(to: UInt16.self) + to.first
        let filling: UInt16 = fills ? 6 : 15
        for index in 0..<count {
            let sample = unsafe UInt16(source[index &* from.step])
            unsafe destination[index &* to.step] = (sample &<< 2 | sample &>> filling) &<< to.shift
        }
    }

    @unsafe private static func narrow(
        _ input: UnsafeRawPointer, as from: Layout, to output: UnsafeMutableRawPointer, as to: Layout, count: Int
    ) {
        let source = unsafe input.assumingMemoryBound(to: UInt16.self) + from.first
        let destination = unsafe output.assumingMemoryBound(to: UInt8.self) + to.first
        for index in 0..<count {
            let sample = unsafe source[index &* from.step] &>> from.shift
            unsafe destination[index &* to.step] = UInt8(truncatingIfNeeded: min((sample &+ 2) &>> 2, 255))
        }
    }

    @unsafe private static func move(
        _ input: UnsafeRawPointer, as from: Layout, to output: UnsafeMutableRawPointer, as to: Layout, count: Int
    ) {
        let source = unsafe input.assumingMemoryBound(to: UInt16.self) + from.first
        let destination = unsafe output.assumingMemoryBound(to: UInt16.self) + to.first
        for index in 0..<count {
            unsafe destination[index &* to.step] = (source[index &* from.step] &>> from.shift) &<< to.shift
        }
    }
}
