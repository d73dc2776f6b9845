import CVA
import Testing

/// Tests the results of the calls for video processing.
@Suite struct VideoProcessingCallTests {
    let processor = VideoProcessingClient()
    var client: Client { processor.client }
    var queries: VADriverVTableVPP { client.context.pointee.vtable_vpp.pointee }

    @Test func filterQueriesHaveTheirStatus() {
        var filters = [VAProcFilterType](repeating: VAProcFilterNone, count: 4)
        var count: UInt32 = 4
        #expect(queries.vaQueryVideoProcFilters(client.context, processor.context, &filters, &count) == VA_STATUS_SUCCESS)
        #expect(count == 1 && filters[0] == VAProcFilterDeinterlacing)
        count = 0
        #expect(
            queries.vaQueryVideoProcFilters(client.context, processor.context, &filters, &count)
                == VA_STATUS_ERROR_MAX_NUM_EXCEEDED)
        #expect(count == 1)
        var kinds = [VAProcFilterCapDeinterlacing](repeating: VAProcFilterCapDeinterlacing(), count: 4)
        count = 4
        #expect(
            queries.vaQueryVideoProcFilterCaps(
                client.context, processor.context, VAProcFilterDeinterlacing, &kinds, &count) == VA_STATUS_SUCCESS)
        #expect(count == 1 && kinds[0].type == VAProcDeinterlacingBob)
        #expect(
            queries.vaQueryVideoProcFilterCaps(
                client.context, processor.context, VAProcFilterNoiseReduction, &kinds, &count)
                == VA_STATUS_ERROR_UNSUPPORTED_FILTER)
        let encoder = client.createContext(client.createConfig().1, 64, 64).1
        #expect(
            queries.vaQueryVideoProcFilters(client.context, encoder, &filters, &count) == VA_STATUS_ERROR_INVALID_CONTEXT)
        #expect(
            queries.vaQueryVideoProcFilters(client.context, processor.context, nil, nil)
                == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    @Test func pipelineCapabilitiesAreReported() throws {
        var answer = VAProcPipelineCaps()
        var filters = [processor.deinterlacing()]
        #expect(
            queries.vaQueryVideoProcPipelineCaps(client.context, processor.context, &filters, 1, &answer)
                == VA_STATUS_SUCCESS)
        #expect(answer.rotation_flags == 1 && answer.blend_flags == 0 && answer.num_forward_references == 0)
        let standards = UnsafeBufferPointer(
            start: answer.input_color_standards, count: Int(answer.num_input_color_standards))
        #expect(standards.contains(VAProcColorStandardBT709) && standards.contains(VAProcColorStandardExplicit))
        let formats = UnsafeBufferPointer(start: answer.output_pixel_format, count: Int(answer.num_output_pixel_formats))
        #expect(Set(formats) == Set(VideoProcessingTests.formats.map { UInt32($0.fourcc) }))
        #expect(answer.max_output_width == 16384 && answer.min_input_height == 2)
        filters = [CallStatusTests.wrong]
        #expect(
            queries.vaQueryVideoProcPipelineCaps(client.context, processor.context, &filters, 1, &answer)
                == VA_STATUS_ERROR_INVALID_BUFFER)
    }

    @Test func configListsItsSurfaceFormats() {
        let config = client.createConfig(VAProfileNone, VAEntrypointVideoProc).1
        var list = [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: 40)
        var count: UInt32 = 40
        #expect(client.table.vaQuerySurfaceAttributes(client.context, config, &list, &count) == VA_STATUS_SUCCESS)
        let formats = list[..<Int(count)].filter { $0.type == VASurfaceAttribPixelFormat }.map(\.value.value.i)
        #expect(Set(formats) == Set(VideoProcessingTests.formats.map(\.fourcc)))
        for format in VideoProcessingTests.formats { _ = processor.surface(format.fourcc, 34, 18) }
        #expect(
            client.createSurfaces(
                64, 64, format: VA_RT_FORMAT_RGB32, [VASurfaceAttrib(VASurfaceAttribPixelFormat, VA_FOURCC_NV12)]
            ).0
                == VA_STATUS_ERROR_INVALID_VALUE)
    }

    @Test func wrongProcessingCallsAreRefused() {
        let source = processor.surface(VA_FOURCC_NV12, 64, 64)
        let target = processor.surface(VA_FOURCC_NV12, 64, 64)
        #expect(processor.process(source, into: target) == VA_STATUS_SUCCESS)
        #expect(processor.process(target, into: target) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(processor.process(CallStatusTests.wrong, into: target) == VA_STATUS_ERROR_INVALID_SURFACE)
        #expect(processor.process(source, into: CallStatusTests.wrong) == VA_STATUS_ERROR_INVALID_SURFACE)
        for region in [
            VARectangle(x: -2, y: 0, width: 8, height: 8), VARectangle(x: 0, y: 0, width: 66, height: 8),
            VARectangle(x: 60, y: 0, width: 8, height: 8), VARectangle(x: 0, y: 0, width: 0, height: 8),
            VARectangle(x: 0, y: 32767, width: 8, height: 65535),
        ] {
            #expect(processor.process(source, into: target, from: region) == VA_STATUS_ERROR_INVALID_PARAMETER)
            #expect(processor.process(source, into: target, to: region) == VA_STATUS_ERROR_INVALID_PARAMETER)
        }
        typealias Change = (inout VAProcPipelineParameterBuffer) -> Void
        let unknown: [Change] = [
            { $0.rotation_state = UInt32(VA_ROTATION_90) }, { $0.mirror_state = UInt32(VA_MIRROR_HORIZONTAL) },
            { $0.num_additional_outputs = 1 },
        ]
        for change in unknown {
            #expect(processor.process(source, into: target, change: change) == VA_STATUS_ERROR_UNIMPLEMENTED)
        }
        #expect(processor.process(source, into: target) { $0.num_filters = 9 } == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(
            processor.process(source, into: target, filters: [processor.deinterlacing(VAProcDeinterlacingWeave)])
                == VA_STATUS_ERROR_UNSUPPORTED_FILTER)
        #expect(
            processor.process(source, into: target, filters: [CallStatusTests.wrong]) == VA_STATUS_ERROR_INVALID_BUFFER)
        var other = VAProcFilterParameterBuffer()
        other.type = VAProcFilterSharpening
        let sharpening = client.createBuffer(processor.context, VAProcFilterParameterBufferType, other)
        #expect(
            processor.process(source, into: target, filters: [sharpening]) == VA_STATUS_ERROR_UNSUPPORTED_FILTER)
        let (_, image) = client.derive(source)
        _ = client.map(image.buf)
        #expect(processor.process(source, into: target) == VA_STATUS_ERROR_SURFACE_BUSY)
        #expect(processor.process(target, into: source) == VA_STATUS_ERROR_SURFACE_BUSY)
        _ = client.unmap(image.buf)
        #expect(processor.process(source, into: target) == VA_STATUS_SUCCESS)
        // Nothing was rendered.
        #expect(client.table.vaBeginPicture(client.context, processor.context, target) == VA_STATUS_SUCCESS)
        #expect(client.table.vaEndPicture(client.context, processor.context) == VA_STATUS_ERROR_INVALID_PARAMETER)
        for type in [VAEncCodedBufferType, VAEncSequenceParameterBufferType, VASliceDataBufferType] {
            #expect(
                client.createBuffer(processor.context, type, size: 4096).0 == VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE)
        }
        #expect(
            client.createBuffer(processor.context, VAProcPipelineParameterBufferType, size: 8).0
                == VA_STATUS_ERROR_INVALID_PARAMETER)
    }
}
