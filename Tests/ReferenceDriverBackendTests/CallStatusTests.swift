import CVA
import Testing

@Suite struct CallStatusTests {
    let client = Client()
    static let wrong: UInt32 = 0x1234_5678

    @Test func configCallsHaveTheirStatus() {
        for profile in [VAProfileHEVCMain12, VAProfileHEVCMain444, VAProfileVP9Profile0, VAProfileAV1Profile0] {
            #expect(client.createConfig(profile).0 == VA_STATUS_ERROR_UNSUPPORTED_PROFILE)
        }
        for profile in [VAProfileHEVCMain, VAProfileHEVCMain10] {
            #expect(client.createConfig(profile).0 == VA_STATUS_SUCCESS)
            #expect(Client.withoutHEVC.createConfig(profile).0 == VA_STATUS_ERROR_UNSUPPORTED_PROFILE)
        }
        #expect(client.createConfig(VAProfileNone).0 == VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT)
        #expect(client.createConfig(VAProfileH264High, VAEntrypointEncPicture).0 == VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT)
        #expect(
            client.createConfig(VAProfileH264High, VAEntrypointEncSliceLP).0 == VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT)
        func status(_ type: VAConfigAttribType, _ value: UInt32) -> VAStatus {
            client.createConfig(VAProfileH264High, VAEntrypointEncSlice, [(type, value)]).0
        }
        #expect(status(VAConfigAttribRTFormat, UInt32(VA_RT_FORMAT_YUV420)) == VA_STATUS_SUCCESS)
        #expect(status(VAConfigAttribRTFormat, UInt32(VA_RT_FORMAT_YUV444)) == VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT)
        #expect(status(VAConfigAttribRTFormat, 0) == VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT)
        #expect(status(VAConfigAttribRateControl, UInt32(VA_RC_CQP)) == VA_STATUS_SUCCESS)
        for mode in [VA_RC_CBR, VA_RC_VBR, VA_RC_ICQ, VA_RC_QVBR, VA_RC_AVBR] {
            #expect(status(VAConfigAttribRateControl, UInt32(mode)) == VA_STATUS_SUCCESS)
        }
        #expect(status(VAConfigAttribRateControl, UInt32(VA_RC_TCBRC)) == VA_STATUS_ERROR_INVALID_VALUE)
        #expect(status(VAConfigAttribRateControl, UInt32(VA_RC_CQP | VA_RC_VBR)) == VA_STATUS_ERROR_INVALID_VALUE)
        #expect(status(VAConfigAttribEncPackedHeaders, 0x1f) == VA_STATUS_SUCCESS)
        #expect(status(VAConfigAttribEncPackedHeaders, 0x20) == VA_STATUS_ERROR_INVALID_VALUE)
        #expect(status(VAConfigAttribEncROI, 4 | 1 << 9) == VA_STATUS_SUCCESS)
        #expect(status(VAConfigAttribEncROI, 33) == VA_STATUS_ERROR_INVALID_VALUE)
        #expect(status(VAConfigAttribEncROI, VA_ATTRIB_NOT_SUPPORTED) == VA_STATUS_SUCCESS)
        #expect(status(VAConfigAttribEncDirtyRect, 1) == VA_STATUS_ERROR_INVALID_VALUE)
        #expect(status(VAConfigAttribMaxPictureWidth, 4096) == VA_STATUS_SUCCESS)
        #expect(status(VAConfigAttribMaxPictureWidth, 8192) == VA_STATUS_ERROR_INVALID_VALUE)
        let id = client.createConfig().1
        #expect(client.table.vaDestroyConfig(client.context, id) == VA_STATUS_SUCCESS)
        #expect(client.table.vaDestroyConfig(client.context, id) == VA_STATUS_ERROR_INVALID_CONFIG)
        #expect(
            client.table.vaCreateConfig(
                client.context, VAProfileH264High, VAEntrypointEncSlice, nil, 2, nil)
                == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    @Test func everyConfigAttributeIsAnswered() {
        var list = (0..<80).map { VAConfigAttrib(type: VAConfigAttribType(UInt32($0)), value: 7) }
        #expect(
            client.table.vaGetConfigAttributes(
                client.context, VAProfileH264Main, VAEntrypointEncSlice, &list, 80) == VA_STATUS_SUCCESS)
        #expect(list[Int(VAConfigAttribEncQualityRange.rawValue)].value == 7)
        #expect(list[Int(VAConfigAttribEncMaxRefFrames.rawValue)].value == 16 | 16 << 16)
        #expect(list[Int(VAConfigAttribDecJPEG.rawValue)].value == VA_ATTRIB_NOT_SUPPORTED)
        #expect(list[79].value == VA_ATTRIB_NOT_SUPPORTED)
        let config = client.createConfig(VAProfileH264Main, VAEntrypointEncSlice, [(VAConfigAttribEncPackedHeaders, 5)])
            .1
        var profile = VAProfileNone
        var entrypoint = VAEntrypoint(0)
        var count: Int32 = 0
        let room = Int(client.context.pointee.max_attributes)
        var chosen = [VAConfigAttrib](repeating: VAConfigAttrib(), count: room)
        #expect(
            client.table.vaQueryConfigAttributes(
                client.context, config, &profile, &entrypoint, &chosen, &count) == VA_STATUS_SUCCESS)
        #expect(profile == VAProfileH264Main && entrypoint == VAEntrypointEncSlice && count <= Int32(room))
        #expect(chosen.first { $0.type == VAConfigAttribEncPackedHeaders }?.value == 5)
    }

    @Test func surfaceAttributesAreListed() {
        let config = client.createConfig().1
        var count: UInt32 = 0
        let table = client.table
        #expect(table.vaQuerySurfaceAttributes(client.context, config, nil, &count) == VA_STATUS_SUCCESS)
        #expect(count == 7)
        var list = [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: 7)
        count = 6
        #expect(
            table.vaQuerySurfaceAttributes(client.context, config, &list, &count) == VA_STATUS_ERROR_MAX_NUM_EXCEEDED)
        #expect(count == 7)
        #expect(table.vaQuerySurfaceAttributes(client.context, config, &list, &count) == VA_STATUS_SUCCESS)
        #expect(list.first { $0.type == VASurfaceAttribMaxWidth }?.value.value.i == 4096)
        #expect(list.first { $0.type == VASurfaceAttribPixelFormat }?.value.value.i == VA_FOURCC_NV12)
        #expect(list.first { $0.type == VASurfaceAttribMemoryType }?.value.value.i == 0x6000_0001)
        #expect(
            table.vaQuerySurfaceAttributes(client.context, Self.wrong, &list, &count) == VA_STATUS_ERROR_INVALID_CONFIG)
        #expect(table.vaQuerySurfaceAttributes(client.context, config, nil, nil) == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    @Test func surfaceCallsHaveTheirStatus() {
        func status(_ attributes: [VASurfaceAttrib]) -> VAStatus { client.createSurfaces(64, 64, 1, attributes).0 }
        #expect(status([VASurfaceAttrib(VASurfaceAttribPixelFormat, VA_FOURCC_NV12)]) == VA_STATUS_SUCCESS)
        #expect(status([VASurfaceAttrib(VASurfaceAttribPixelFormat, VA_FOURCC_P010)]) == VA_STATUS_ERROR_INVALID_VALUE)
        #expect(status([VASurfaceAttrib(VASurfaceAttribMemoryType, 1)]) == VA_STATUS_SUCCESS)
        for type in [VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR, 0x1000_0000, 0x0800_0000, 0, 0x6000_0001] {
            #expect(
                status([VASurfaceAttrib(VASurfaceAttribMemoryType, type)]) == VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE)
        }
        for type in [VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2] {
            #expect(status([VASurfaceAttrib(VASurfaceAttribMemoryType, type)]) == VA_STATUS_ERROR_INVALID_PARAMETER)
        }
        #expect(status([VASurfaceAttrib(VASurfaceAttribMinWidth, 16)]) == VA_STATUS_ERROR_ATTR_NOT_SUPPORTED)
        #expect(client.createSurfaces(64, 64, format: VA_RT_FORMAT_YUV444).0 == VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT)
        for (width, height) in [(0, 64), (64, 0), (16385, 64), (64, 20000)] {
            #expect(client.createSurfaces(width, height).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        }
        #expect(client.createSurfaces(64, 64, 0).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        let ids = client.createSurfaces(64, 64, 2).1
        #expect(client.destroySurfaces([ids[0], Self.wrong]) == VA_STATUS_ERROR_INVALID_SURFACE)
        #expect(client.destroySurfaces(ids) == VA_STATUS_SUCCESS)
        #expect(client.destroySurfaces(ids) == VA_STATUS_ERROR_INVALID_SURFACE)
        #expect(client.table.vaSyncSurface(client.context, ids[0]) == VA_STATUS_ERROR_INVALID_SURFACE)
        var old: [VASurfaceID] = [0]
        #expect(
            client.table.vaCreateSurfaces(client.context, 64, 64, VA_RT_FORMAT_YUV420, 1, &old) == VA_STATUS_SUCCESS)
        #expect(!ids.contains(old[0]), "ids are not used again at once")
        #expect(
            client.table.vaCreateSurfaces(
                client.context, -3, 64, VA_RT_FORMAT_YUV420, 1, &old) == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        var status = VASurfaceStatus(0)
        #expect(client.table.vaQuerySurfaceStatus(client.context, old[0], &status) == VA_STATUS_SUCCESS)
        #expect(status == VASurfaceReady)
    }

    @Test func contextCallsHaveTheirStatus() {
        let config = client.createConfig().1
        for (width, height) in [(15, 64), (64, 8), (4097, 64), (64, 4100), (0, 0), (-16, 64)] {
            #expect(client.createContext(config, width, height).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        }
        #expect(client.createContext(Self.wrong, 64, 64).0 == VA_STATUS_ERROR_INVALID_CONFIG)
        #expect(client.createContext(config, 64, 64, targets: [Self.wrong]).0 == VA_STATUS_ERROR_INVALID_SURFACE)
        let (status, id) = client.createContext(config, 4096, 4096)
        #expect(status == VA_STATUS_SUCCESS)
        let table = client.table
        #expect(table.vaBeginPicture(client.context, id, Self.wrong) == VA_STATUS_ERROR_INVALID_SURFACE)
        let small = client.createSurfaces(64, 64).1[0]
        #expect(table.vaBeginPicture(client.context, id, small) == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(table.vaBeginPicture(client.context, config, small) == VA_STATUS_ERROR_INVALID_CONTEXT)
        #expect(client.render(id, []) == VA_STATUS_ERROR_OPERATION_FAILED)
        #expect(table.vaEndPicture(client.context, id) == VA_STATUS_ERROR_OPERATION_FAILED)
        #expect(table.vaDestroyContext(client.context, id) == VA_STATUS_SUCCESS)
        #expect(table.vaDestroyContext(client.context, id) == VA_STATUS_ERROR_INVALID_CONTEXT)
    }

    @Test func bufferCallsHaveTheirStatus() {
        let stream = StreamClient(client)
        let context = stream.context
        func status(_ type: VABufferType, _ size: Int, _ count: Int = 1) -> VAStatus {
            client.createBuffer(context, type, size: size, count: count).0
        }
        let sequenceSize = MemoryLayout<VAEncSequenceParameterBufferH264>.size
        let sliceSize = MemoryLayout<VAEncSliceParameterBufferH264>.size
        #expect(sequenceSize == 1132)
        #expect(status(VAEncSequenceParameterBufferType, sequenceSize) == VA_STATUS_SUCCESS)
        #expect(status(VAEncSequenceParameterBufferType, sequenceSize - 1) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(status(VAEncSequenceParameterBufferType, sequenceSize, 2) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(status(VAEncPictureParameterBufferType, sequenceSize) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(status(VAEncSliceParameterBufferType, sliceSize, 4) == VA_STATUS_SUCCESS)
        #expect(status(VAEncSliceParameterBufferType, sliceSize, 0) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(status(VAEncCodedBufferType, 0) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(status(VAEncCodedBufferType, 1 << 30) == VA_STATUS_ERROR_ALLOCATION_FAILED)
        #expect(status(VAEncMiscParameterBufferType, 4) == VA_STATUS_ERROR_INVALID_PARAMETER)
        for type in [VASliceDataBufferType, VAImageBufferType, VAPictureParameterBufferType, VABufferType(9999)] {
            #expect(status(type, 64) == VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE)
        }
        #expect(client.createBuffer(Self.wrong, VAEncCodedBufferType, size: 64).0 == VA_STATUS_ERROR_INVALID_CONTEXT)
        let slices = client.createBuffer(context, VAEncSliceParameterBufferType, size: sliceSize, count: 4).1
        #expect(client.table.vaBufferSetNumElements(client.context, slices, 2) == VA_STATUS_SUCCESS)
        #expect(client.table.vaBufferSetNumElements(client.context, slices, 5) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(client.table.vaBufferSetNumElements(client.context, slices, 0) == VA_STATUS_ERROR_INVALID_PARAMETER)
        var type = VABufferType(0)
        var (size, count): (UInt32, UInt32) = (0, 0)
        #expect(client.table.vaBufferInfo(client.context, slices, &type, &size, &count) == VA_STATUS_SUCCESS)
        #expect(type == VAEncSliceParameterBufferType && size == UInt32(sliceSize) && count == 2)

        #expect(client.unmap(slices) == VA_STATUS_ERROR_OPERATION_FAILED)
        #expect(client.map(slices).0 == VA_STATUS_SUCCESS)
        #expect(client.map(slices).0 == VA_STATUS_ERROR_OPERATION_FAILED)
        #expect(client.unmap(slices) == VA_STATUS_SUCCESS)
        #expect(client.destroy(slices) == VA_STATUS_SUCCESS)
        #expect(client.destroy(slices) == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(client.map(slices).0 == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(client.unmap(slices) == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(client.table.vaSyncBuffer(client.context, slices, 0) == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(client.table.vaMapBuffer(client.context, stream.coded, nil) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(client.coded(stream.coded)?.bytes == [], "nothing was encoded")
    }

    @Test func unsupportedCallsAreRefused() {
        let surface = client.createSurfaces(64, 64).1[0]
        var count: UInt32 = 9
        #expect(client.table.vaQuerySubpictureFormats(client.context, nil, nil, &count) == VA_STATUS_SUCCESS)
        #expect(count == 0)
        #expect(client.table.vaDestroySubpicture(client.context, 1) == VA_STATUS_ERROR_INVALID_SUBPICTURE)
        #expect(
            client.table.vaPutSurface(
                client.context, surface, nil, 0, 0, 1, 1, 0, 0, 1, 1, nil, 0, 0) == VA_STATUS_ERROR_UNIMPLEMENTED)
    }

    @Test func callsAfterTerminateAreRefused() {
        let client = Client()
        let table = client.table
        #expect(client.terminate() == VA_STATUS_SUCCESS)
        #expect(table.vaTerminate(client.context) == VA_STATUS_ERROR_INVALID_DISPLAY)
        #expect(client.createConfig().0 == VA_STATUS_ERROR_INVALID_DISPLAY)
        #expect(table.vaSyncSurface(nil, 1) == VA_STATUS_ERROR_INVALID_DISPLAY)
    }
}
