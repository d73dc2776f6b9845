internal import CVA

/// The values of a VAProcPipelineParameterBuffer, without its pointers: one source picture, which is drawn into the
/// target.
struct ProcessOperation {
    var source: VASurfaceID
    /// The region of the source surface; nil for the whole surface.
    var sourceRegion: Driver.Rectangle?
    /// The region of the target surface; nil for the whole surface.
    var targetRegion: Driver.Rectangle?
    /// The background color: A, R, G and B; A is the highest byte.
    var background: UInt32
    var sourceColor: ColorProperties
    var targetColor: ColorProperties
    /// VA_FILTER_SCALING_… and VA_FILTER_INTERPOLATION_…
    var scaling: UInt32
    /// The field whose rows are used for deinterlacing; nil if the picture is not deinterlaced.
    var field: Field?

    enum Field { case top, bottom }

    /// A color standard, with its range and matrix.
    struct ColorProperties {
        var standard: VAProcColorStandardType
        /// VA_SOURCE_RANGE_…
        var range: UInt8
        /// The matrix_coefficients of H.273. It applies if the standard is explicit.
        var matrix: UInt8
    }

    /// Copies the parameters. Throws if a value is not supported.
    ///
    /// SAFETY: by va_vpp.h, the client's pointers are valid until vaEndPicture. They are only read here, before that
    /// call.
    ///
    /// - Parameter filter: returns the filter buffer with an id.
    init(_ parameters: VAProcPipelineParameterBuffer, filter: (VABufferID) throws -> Buffer) throws {
        guard unsafe parameters.rotation_state == UInt32(VA_ROTATION_NONE), unsafe parameters.mirror_state == UInt32(VA_MIRROR_NONE)
        else { throw Refusal.unimplemented("rotation and mirroring are not supported") }
        guard unsafe parameters.blend_state == nil, unsafe parameters.num_additional_outputs == 0 else {
            throw Refusal.unimplemented("blending and several outputs are not supported")
        }
        source = unsafe parameters.surface
        sourceRegion = unsafe parameters.surface_region.map { unsafe Driver.Rectangle($0.pointee) }
        targetRegion = unsafe parameters.output_region.map { unsafe Driver.Rectangle($0.pointee) }
        background = unsafe parameters.output_background_color
        sourceColor = ColorProperties(
            standard: unsafe parameters.surface_color_standard,
            range: unsafe parameters.input_color_properties.color_range,
            matrix: unsafe parameters.input_color_properties.matrix_coefficients)
        targetColor = ColorProperties(
            standard: unsafe parameters.output_color_standard,
            range: unsafe parameters.output_color_properties.color_range,
            matrix: unsafe parameters.output_color_properties.matrix_coefficients)
        scaling = unsafe parameters.filter_flags
        guard unsafe parameters.num_filters <= 8 else { throw Refusal.invalidParameter("there are too many filters") }
        guard unsafe parameters.num_filters > 0 else { return }
        guard let filters = unsafe parameters.filters else {
            throw Refusal.invalidParameter("the list of filters is missing")
        }
        for index in 0..<Int(unsafe parameters.num_filters) {
            field = try Self.field(of: filter(unsafe filters[index]))
        }
    }

    private static func field(of buffer: Buffer) throws -> Field {
        let type = try buffer.element(VAProcFilterParameterBufferBase.self).type
        guard buffer.type == VAProcFilterParameterBufferType, type == VAProcFilterDeinterlacing else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_FILTER, "filter type \(type.rawValue) is not supported")
        }
        let parameters = try buffer.element(VAProcFilterParameterBufferDeinterlacing.self)
        guard parameters.algorithm == VAProcDeinterlacingBob else {
            throw Refusal(
                VA_STATUS_ERROR_UNSUPPORTED_FILTER,
                "deinterlacing algorithm "
                    + "\(parameters.algorithm.rawValue) is not supported")
        }
        return parameters.flags & UInt32(VA_DEINTERLACING_BOTTOM_FIELD) == 0 ? .top : .bottom
    }
}

extension Driver.Rectangle {
    fileprivate init(_ rectangle: VARectangle) {
        self.init(
            x: Int(rectangle.x), y: Int(rectangle.y), width: Int(rectangle.width), height: Int(rectangle.height))
    }

    /// Returns the rectangle with its left and upper edges moved to the chroma grid of the format. Throws if it is
    /// outside the picture.
    func alignedToChroma(in layout: PlaneLayout) throws -> Driver.Rectangle {
        guard x >= 0, y >= 0, width > 0, height > 0, width <= layout.width - x, height <= layout.height - y else {
            throw Refusal.invalidParameter(
                "a region of \(width)x\(height) at \(x),\(y) is outside the \(layout.width)x\(layout.height) surface")
        }
        let across = layout.format.planes.map(\.across).max() ?? 0
        let down = layout.format.planes.map(\.down).max() ?? 0
        let (left, top) = ((x >> across) << across, (y >> down) << down)
        return Driver.Rectangle(x: left, y: top, width: width + x - left, height: height + y - top)
    }
}

/// The pictures to draw into a surface, between vaBeginPicture and vaEndPicture.
struct ProcessPicture {
    let target: Surface
    var operations: [ProcessOperation] = []
}
