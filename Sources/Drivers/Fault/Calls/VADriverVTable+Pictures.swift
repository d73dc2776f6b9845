internal import CVA

extension VADriverVTable {
    /// Wraps the picture calls that the wrapped driver implements.
    mutating func wrapPictures(_ wrapped: VADriverVTable) {
        if unsafe wrapped.vaCreateContext != nil {
            unsafe vaCreateContext = { client, configId, pictureWidth, pictureHeight, flag, renderTargets, numRenderTargets, context in
                unsafe pass(client, "vaCreateContext") {
                    unsafe $0.calls.pointee.vaCreateContext(
                        $0.context, configId, pictureWidth, pictureHeight, flag, renderTargets, numRenderTargets, context)
                } corrupt: {
                    unsafe context?.pointee = VA_INVALID_ID
                }
            }
        }
        if unsafe wrapped.vaDestroyContext != nil {
            unsafe vaDestroyContext = { client, context in
                unsafe pass(client, "vaDestroyContext") { unsafe $0.calls.pointee.vaDestroyContext($0.context, context) }
            }
        }
        if unsafe wrapped.vaBeginPicture != nil {
            unsafe vaBeginPicture = { client, context, renderTarget in
                unsafe pass(client, "vaBeginPicture") { unsafe $0.calls.pointee.vaBeginPicture($0.context, context, renderTarget) }
            }
        }
        if unsafe wrapped.vaRenderPicture != nil {
            unsafe vaRenderPicture = { client, context, buffers, numBuffers in
                unsafe pass(client, "vaRenderPicture") { unsafe $0.calls.pointee.vaRenderPicture($0.context, context, buffers, numBuffers) }
            }
        }
        if unsafe wrapped.vaEndPicture != nil {
            unsafe vaEndPicture = { client, context in
                unsafe pass(client, "vaEndPicture") { unsafe $0.calls.pointee.vaEndPicture($0.context, context) }
            }
        }
        if unsafe wrapped.vaCreateMFContext != nil {
            unsafe vaCreateMFContext = { client, mfeContext in
                unsafe pass(client, "vaCreateMFContext") { unsafe $0.calls.pointee.vaCreateMFContext($0.context, mfeContext) }
            }
        }
        if unsafe wrapped.vaMFAddContext != nil {
            unsafe vaMFAddContext = { client, mfContext, context in
                unsafe pass(client, "vaMFAddContext") { unsafe $0.calls.pointee.vaMFAddContext($0.context, mfContext, context) }
            }
        }
        if unsafe wrapped.vaMFReleaseContext != nil {
            unsafe vaMFReleaseContext = { client, mfContext, context in
                unsafe pass(client, "vaMFReleaseContext") { unsafe $0.calls.pointee.vaMFReleaseContext($0.context, mfContext, context) }
            }
        }
        if unsafe wrapped.vaMFSubmit != nil {
            unsafe vaMFSubmit = { client, mfContext, contexts, numContexts in
                unsafe pass(client, "vaMFSubmit") { unsafe $0.calls.pointee.vaMFSubmit($0.context, mfContext, contexts, numContexts) }
            }
        }
    }
}
