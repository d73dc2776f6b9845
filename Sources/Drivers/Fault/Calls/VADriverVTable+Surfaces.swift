internal import CVA

extension VADriverVTable {
    /// Wraps the surface calls that the wrapped driver implements.
    mutating func wrapSurfaces(_ wrapped: VADriverVTable) {
        if unsafe wrapped.vaCreateSurfaces != nil {
            unsafe vaCreateSurfaces = { client, width, height, format, numSurfaces, surfaces in
                unsafe pass(client, "vaCreateSurfaces") {
                    unsafe $0.calls.pointee.vaCreateSurfaces($0.context, width, height, format, numSurfaces, surfaces)
                } corrupt: {
                    for index in 0..<max(Int(numSurfaces), 0) { unsafe surfaces?[index] = VA_INVALID_ID }
                }
            }
        }
        if unsafe wrapped.vaCreateSurfaces2 != nil {
            unsafe vaCreateSurfaces2 = { client, format, width, height, surfaces, numSurfaces, attribList, numAttribs in
                unsafe pass(client, "vaCreateSurfaces2") {
                    unsafe $0.calls.pointee.vaCreateSurfaces2($0.context, format, width, height, surfaces, numSurfaces, attribList, numAttribs)
                } corrupt: {
                    for index in 0..<Int(numSurfaces) { unsafe surfaces?[index] = VA_INVALID_ID }
                }
            }
        }
        if unsafe wrapped.vaDestroySurfaces != nil {
            unsafe vaDestroySurfaces = { client, surfaceList, numSurfaces in
                unsafe pass(client, "vaDestroySurfaces") { unsafe $0.calls.pointee.vaDestroySurfaces($0.context, surfaceList, numSurfaces) }
            }
        }
        if unsafe wrapped.vaQuerySurfaceAttributes != nil {
            unsafe vaQuerySurfaceAttributes = { client, config, attribList, numAttribs in
                unsafe pass(client, "vaQuerySurfaceAttributes") {
                    unsafe $0.calls.pointee.vaQuerySurfaceAttributes($0.context, config, attribList, numAttribs)
                } corrupt: {
                    unsafe numAttribs?.pointee = 0
                }
            }
        }
        if unsafe wrapped.vaGetSurfaceAttributes != nil {
            unsafe vaGetSurfaceAttributes = { client, config, attribList, numAttribs in
                unsafe pass(client, "vaGetSurfaceAttributes") {
                    unsafe $0.calls.pointee.vaGetSurfaceAttributes($0.context, config, attribList, numAttribs)
                }
            }
        }
        if unsafe wrapped.vaSyncSurface != nil {
            unsafe vaSyncSurface = { client, renderTarget in
                unsafe pass(client, "vaSyncSurface") { unsafe $0.calls.pointee.vaSyncSurface($0.context, renderTarget) }
            }
        }
        if unsafe wrapped.vaSyncSurface2 != nil {
            unsafe vaSyncSurface2 = { client, surface, timeoutNs in
                unsafe pass(client, "vaSyncSurface2", waitingAtMost: timeoutNs) {
                    unsafe $0.calls.pointee.vaSyncSurface2($0.context, surface, timeoutNs)
                }
            }
        }
        if unsafe wrapped.vaQuerySurfaceStatus != nil {
            unsafe vaQuerySurfaceStatus = { client, renderTarget, status in
                unsafe pass(client, "vaQuerySurfaceStatus") {
                    unsafe $0.calls.pointee.vaQuerySurfaceStatus($0.context, renderTarget, status)
                } corrupt: {
                    unsafe status?.pointee = VASurfaceStatus(0xff)
                }
            }
        }
        if unsafe wrapped.vaQuerySurfaceError != nil {
            unsafe vaQuerySurfaceError = { client, renderTarget, errorStatus, errorInfo in
                unsafe pass(client, "vaQuerySurfaceError") {
                    unsafe $0.calls.pointee.vaQuerySurfaceError($0.context, renderTarget, errorStatus, errorInfo)
                }
            }
        }
        if unsafe wrapped.vaPutSurface != nil {
            unsafe vaPutSurface = { client, surface, draw, srcx, srcy, srcw, srch, destx, desty, destw, desth, cliprects, numberCliprects, flags in
                unsafe pass(client, "vaPutSurface") {
                    unsafe $0.calls.pointee.vaPutSurface(
                        $0.context, surface, draw, srcx, srcy, srcw, srch, destx, desty, destw, desth, cliprects, numberCliprects, flags)
                }
            }
        }
        if unsafe wrapped.vaLockSurface != nil {
            unsafe vaLockSurface = {
                client, surface, fourcc, lumaStride, chromaUStride, chromaVStride, lumaOffset, chromaUOffset, chromaVOffset, bufferName, buffer in
                unsafe pass(client, "vaLockSurface") {
                    unsafe $0.calls.pointee.vaLockSurface(
                        $0.context, surface, fourcc, lumaStride, chromaUStride, chromaVStride, lumaOffset, chromaUOffset, chromaVOffset, bufferName,
                        buffer)
                }
            }
        }
        if unsafe wrapped.vaUnlockSurface != nil {
            unsafe vaUnlockSurface = { client, surface in
                unsafe pass(client, "vaUnlockSurface") { unsafe $0.calls.pointee.vaUnlockSurface($0.context, surface) }
            }
        }
        if unsafe wrapped.vaExportSurfaceHandle != nil {
            unsafe vaExportSurfaceHandle = { client, surfaceId, memType, flags, descriptor in
                unsafe pass(client, "vaExportSurfaceHandle") {
                    unsafe $0.calls.pointee.vaExportSurfaceHandle($0.context, surfaceId, memType, flags, descriptor)
                } corrupt: {
                    unsafe descriptor?.storeBytes(of: 0, as: UInt32.self)
                }
            }
        }
        if unsafe wrapped.vaCopy != nil {
            unsafe vaCopy = { client, dst, src, option in
                unsafe pass(client, "vaCopy") { unsafe $0.calls.pointee.vaCopy($0.context, dst, src, option) }
            }
        }
    }
}
