internal import CVA

extension VADriverVTable {
    /// Wraps the buffer calls that the wrapped driver implements.
    mutating func wrapBuffers(_ wrapped: VADriverVTable) {
        if unsafe wrapped.vaCreateBuffer != nil {
            unsafe vaCreateBuffer = { client, context, type, size, count, data, buffer in
                unsafe createBuffer(client, context, type, size, count, data, buffer)
            }
        }
        if unsafe wrapped.vaCreateBuffer2 != nil {
            unsafe vaCreateBuffer2 = { client, context, type, width, height, unitSize, pitch, bufId in
                unsafe pass(client, "vaCreateBuffer2") {
                    unsafe $0.calls.pointee.vaCreateBuffer2($0.context, context, type, width, height, unitSize, pitch, bufId)
                }
            }
        }
        if unsafe wrapped.vaBufferSetNumElements != nil {
            unsafe vaBufferSetNumElements = { client, bufId, numElements in
                unsafe pass(client, "vaBufferSetNumElements") { unsafe $0.calls.pointee.vaBufferSetNumElements($0.context, bufId, numElements) }
            }
        }
        if unsafe wrapped.vaMapBuffer != nil {
            unsafe vaMapBuffer = { client, buffer, address in unsafe mapBuffer(client, buffer, address) }
        }
        if unsafe wrapped.vaUnmapBuffer != nil {
            unsafe vaUnmapBuffer = { client, bufId in
                unsafe pass(client, "vaUnmapBuffer") { unsafe $0.calls.pointee.vaUnmapBuffer($0.context, bufId) }
            }
        }
        if unsafe wrapped.vaDestroyBuffer != nil {
            unsafe vaDestroyBuffer = { client, bufferId in
                unsafe pass(client, "vaDestroyBuffer") { unsafe $0.calls.pointee.vaDestroyBuffer($0.context, bufferId) }
            }
        }
        if unsafe wrapped.vaBufferInfo != nil {
            unsafe vaBufferInfo = { client, bufId, type, size, numElements in
                unsafe pass(client, "vaBufferInfo") { unsafe $0.calls.pointee.vaBufferInfo($0.context, bufId, type, size, numElements) }
            }
        }
        if unsafe wrapped.vaSyncBuffer != nil {
            unsafe vaSyncBuffer = { client, bufId, timeoutNs in
                unsafe pass(client, "vaSyncBuffer", waitingAtMost: timeoutNs) { unsafe $0.calls.pointee.vaSyncBuffer($0.context, bufId, timeoutNs) }
            }
        }
        if unsafe wrapped.vaAcquireBufferHandle != nil {
            unsafe vaAcquireBufferHandle = { client, bufId, bufInfo in
                unsafe pass(client, "vaAcquireBufferHandle") { unsafe $0.calls.pointee.vaAcquireBufferHandle($0.context, bufId, bufInfo) }
            }
        }
        if unsafe wrapped.vaReleaseBufferHandle != nil {
            unsafe vaReleaseBufferHandle = { client, bufId in
                unsafe pass(client, "vaReleaseBufferHandle") { unsafe $0.calls.pointee.vaReleaseBufferHandle($0.context, bufId) }
            }
        }
    }
}
