internal import CVA

extension Driver {
    /// What vaCreateSurfaces may be asked, with the pointers taken out.
    struct SurfaceRequest {
        var format: UInt32
        var width: Int
        var height: Int
        var count: Int
        /// Attributes that the client marked as settable; the value is nil for one that is no integer.
        var attributes: [(type: VASurfaceAttribType, value: Int32?)] = []
    }

    func createSurfaces(_ request: SurfaceRequest) throws -> [VASurfaceID] {
        let isWide = request.format == UInt32(VA_RT_FORMAT_YUV420_10)
        guard request.format == UInt32(VA_RT_FORMAT_YUV420) || isWide && capabilities.has10Bits else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT, "surfaces of RT format \(request.format)")
        }
        try check(request.attributes, isWide ? VA_FOURCC_P010 : VA_FOURCC_NV12)
        let limit = capabilities.entries.map { max($0.maximumWidth, $0.maximumHeight) }.max() ?? 0
        guard request.width > 0, request.height > 0, request.width <= limit, request.height <= limit else {
            throw Refusal.resolution("surfaces of \(request.width)x\(request.height)")
        }
        guard request.count > 0, request.count <= 1024 else {
            throw Refusal.invalidParameter("\(request.count) surfaces")
        }
        return monitor.withLock {
            (0..<request.count).map { _ in
                surfaces.insert { Surface(id: $0, width: request.width, height: request.height, isWide: isWide) }.id
            }
        }
    }

    private func check(_ attributes: [(type: VASurfaceAttribType, value: Int32?)], _ fourcc: Int32) throws {
        for (type, value) in attributes where type == VASurfaceAttribMemoryType {
            guard let value else { throw Refusal.invalidValue("a memory type that is no integer") }
            guard value == VA_SURFACE_ATTRIB_MEM_TYPE_VA else {
                throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE, "surfaces of memory type \(value)")
            }
        }
        for (type, value) in attributes {
            switch type {
            case VASurfaceAttribMemoryType, VASurfaceAttribUsageHint:
                break
            case VASurfaceAttribPixelFormat:
                guard value == fourcc else {
                    throw Refusal.invalidValue("surfaces of a pixel format other than the RT format's NV12 or P010")
                }
            case VASurfaceAttribExternalBufferDescriptor:
                throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE, "surfaces in external buffers")
            default:
                throw Refusal.attribute("surface attribute \(type.rawValue) cannot be set")
            }
        }
    }

    /// All of them, or none.
    func destroySurfaces(_ ids: [VASurfaceID]) throws {
        try monitor.withLock {
            for id in ids { _ = try surface(id) }
            for id in ids {
                let isTarget = contexts.all.contains { $0.picture?.target.id == id }
                if isTarget { throw Refusal.busy("surface \(id) is the target of an open picture") }
            }
            for id in ids { surfaces.remove(id) }
        }
    }

    /// vaSyncSurface and vaSyncSurface2: waits until nothing reads or writes the surface.
    func syncSurface(_ id: VASurfaceID, until deadline: Deadline) throws {
        try monitor.withLock {
            guard try wait(for: surface(id), until: deadline) else {
                throw Refusal.timedOut("surface \(id) is still in use")
            }
            if surfaces[id]?.isDamaged == true {
                throw Refusal(VA_STATUS_ERROR_DECODING_ERROR, "surface \(id) holds a picture with errors")
            }
        }
    }

    /// vaQuerySurfaceError: what is wrong with the last decoded picture, which is not known more exactly.
    func surfaceError(_ id: VASurfaceID) throws -> UnsafeMutablePointer<VASurfaceDecodeMBErrors> {
        try unsafe monitor.withLock {
            let surface = try surface(id)
            _ = wait(for: surface)
            return unsafe surface.errorList.records(
                macroblocks: surface.isDamaged ? (surface.width + 15) / 16 * ((surface.height + 15) / 16) : 0)
        }
    }

    func surfaceStatus(_ id: VASurfaceID) throws -> VASurfaceStatus {
        try monitor.withLock { try surface(id).jobs.isEmpty ? VASurfaceReady : VASurfaceRendering }
    }
}
