import CVA

/// A client for video processing.
final class VideoProcessingClient {
    let client: Client
    let context: VAContextID

    init(_ client: Client = Client()) {
        self.client = client
        let config = client.createConfig(VAProfileNone, VAEntrypointVideoProc)
        precondition(config.0 == VA_STATUS_SUCCESS)
        let context = client.createContext(config.1, 0, 0)
        precondition(context.0 == VA_STATUS_SUCCESS)
        self.context = context.1
    }

    /// Creates a surface of a format, with the given samples if there are any.
    func surface(_ fourcc: Int32, _ width: Int, _ height: Int, samples: [UInt8]? = nil) -> VASurfaceID {
        let rtFormat: Int32 =
            switch fourcc {
            case VA_FOURCC_P010: VA_RT_FORMAT_YUV420_10
            case VA_FOURCC_YUY2, VA_FOURCC_UYVY: VA_RT_FORMAT_YUV422
            case VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12: VA_RT_FORMAT_YUV420
            default: VA_RT_FORMAT_RGB32
            }
        let (status, ids) = client.createSurfaces(
            width, height, 1, format: rtFormat, [VASurfaceAttrib(VASurfaceAttribPixelFormat, fourcc)])
        precondition(status == VA_STATUS_SUCCESS)
        if let samples { client.fill(ids[0]) { samples[$0] } }
        return ids[0]
    }

    /// Processes a picture; returns the status of the call that failed, or of vaEndPicture.
    @discardableResult
    func process(
        _ source: VASurfaceID, into target: VASurfaceID, from: VARectangle? = nil, to: VARectangle? = nil,
        filters: [VABufferID] = [], change: (inout VAProcPipelineParameterBuffer) -> Void = { _ in }
    ) -> VAStatus {
        var rectangles = [from ?? VARectangle(), to ?? VARectangle()]
        var filters = filters
        return rectangles.withUnsafeMutableBufferPointer { list in
            filters.withUnsafeMutableBufferPointer { filterList in
                var parameters = VAProcPipelineParameterBuffer()
                parameters.surface = source
                if from != nil { parameters.surface_region = UnsafePointer(list.baseAddress) }
                if to != nil { parameters.output_region = UnsafePointer(list.baseAddress! + 1) }
                parameters.output_background_color = 0xff00_0000
                parameters.filters = filterList.baseAddress
                parameters.num_filters = UInt32(filterList.count)
                change(&parameters)
                let buffer = client.createBuffer(context, VAProcPipelineParameterBufferType, parameters)
                let begun = client.table.vaBeginPicture(client.context, context, target)
                if begun != VA_STATUS_SUCCESS { return begun }
                let rendered = client.render(context, [buffer])
                let ended = client.table.vaEndPicture(client.context, context)
                return rendered != VA_STATUS_SUCCESS ? rendered : ended
            }
        }
    }

    func deinterlacing(_ algorithm: VAProcDeinterlacingType = VAProcDeinterlacingBob, flags: Int32 = 0) -> VABufferID {
        var parameters = VAProcFilterParameterBufferDeinterlacing()
        parameters.type = VAProcFilterDeinterlacing
        parameters.algorithm = algorithm
        parameters.flags = UInt32(flags)
        return client.createBuffer(context, VAProcFilterParameterBufferType, parameters)
    }
}
