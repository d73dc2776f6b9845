internal import CVA
package import VideoBase

/// The parameters of a video processor's operation: VAProcPipelineParameterBuffer.
package struct ProcessingParameters: ParameterBuffer, Sendable {
    package enum Scaling: Sendable, Hashable { case usual, fast, best }

    package let source: Surface
    /// The color description of the source. The driver decides unspecified values.
    package var sourceColor = ColorDescription()
    package var targetColor = ColorDescription()
    /// The color around the picture: A, R, G, B from the high byte down.
    package var background: UInt32 = 0xff00_0000
    package var scaling = Scaling.usual
    private let regions: Regions

    /// Creates the parameters.
    ///
    /// - Parameters:
    ///   - sourceRegion: The part of the source to read, in its luma samples, or nil for the whole source.
    ///   - targetRegion: The part of the target to write, in its luma samples, or nil for the whole target.
    package init(source: Surface, sourceRegion: VideoRectangle? = nil, targetRegion: VideoRectangle? = nil) {
        self.source = source
        regions = Regions(sourceRegion, targetRegion)
    }

    /// The C rectangles to which the driver receives pointers. They are used until vaEndPicture.
    @safe private final class Regions: @unchecked Sendable {
        // SAFETY: The rectangles are written in init, read only by drivers, and freed with the object.
        let rectangles: UnsafeMutablePointer<VARectangle>
        let hasSource: Bool
        let hasTarget: Bool

        init(_ source: VideoRectangle?, _ target: VideoRectangle?) {
            unsafe rectangles = .allocate(capacity: 2)
            unsafe rectangles.initialize(to: VARectangle(source))
            unsafe (rectangles + 1).initialize(to: VARectangle(target))
            hasSource = source != nil
            hasTarget = target != nil
        }

        deinit { unsafe rectangles.deallocate() }
    }

    package var retained: AnyObject? { regions }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        var c = unsafe VAProcPipelineParameterBuffer()
        unsafe c.surface = source.id
        if regions.hasSource { unsafe c.surface_region = UnsafePointer(regions.rectangles) }
        if regions.hasTarget { unsafe c.output_region = UnsafePointer(regions.rectangles + 1) }
        unsafe c.surface_color_standard = sourceColor.standard
        unsafe c.output_color_standard = targetColor.standard
        unsafe c.input_color_properties = sourceColor.properties
        unsafe c.output_color_properties = targetColor.properties
        unsafe c.output_background_color = background
        let flags =
            switch scaling {
            case .usual: VA_FILTER_SCALING_DEFAULT
            case .fast: VA_FILTER_SCALING_FAST
            case .best: VA_FILTER_SCALING_HQ
            }
        unsafe c.filter_flags = UInt32(flags)
        unsafe withBytes(c, as: .processing, to: body)
    }
}

extension VARectangle {
    fileprivate init(_ rectangle: VideoRectangle?) {
        self.init(
            x: Int16(clamping: rectangle?.x ?? 0), y: Int16(clamping: rectangle?.y ?? 0),
            width: UInt16(clamping: rectangle?.width ?? 0), height: UInt16(clamping: rectangle?.height ?? 0))
    }
}

extension ColorDescription {
    /// The VA-API color standard, or VAProcColorStandardNone if VA-API has none for the matrix.
    fileprivate var standard: VAProcColorStandardType {
        switch matrix {
        case 1: VAProcColorStandardBT709
        case 4: VAProcColorStandardBT470M
        case 5, 6: VAProcColorStandardBT601
        case 7: VAProcColorStandardSMPTE240M
        case 9, 10: VAProcColorStandardBT2020
        default: VAProcColorStandardNone
        }
    }

    fileprivate var properties: VAProcColorProperties {
        var properties = VAProcColorProperties()
        properties.color_range = UInt8(
            fullRange.map { $0 ? VA_SOURCE_RANGE_FULL : VA_SOURCE_RANGE_REDUCED } ?? VA_SOURCE_RANGE_UNKNOWN)
        properties.colour_primaries = primaries
        properties.transfer_characteristics = transfer
        properties.matrix_coefficients = matrix
        return properties
    }
}
