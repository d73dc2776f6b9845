internal import CVA

extension VADriverVTableVPP {
    /// Wraps the video processing calls that the wrapped driver implements.
    mutating func wrapAll(_ wrapped: VADriverVTableVPP) {
        if unsafe wrapped.vaQueryVideoProcFilters != nil {
            unsafe vaQueryVideoProcFilters = { client, context, filters, numFilters in
                unsafe pass(client, "vaQueryVideoProcFilters") {
                    unsafe $0.processing.pointee.vaQueryVideoProcFilters($0.context, context, filters, numFilters)
                }
            }
        }
        if unsafe wrapped.vaQueryVideoProcFilterCaps != nil {
            unsafe vaQueryVideoProcFilterCaps = { client, context, type, filterCaps, numFilterCaps in
                unsafe pass(client, "vaQueryVideoProcFilterCaps") {
                    unsafe $0.processing.pointee.vaQueryVideoProcFilterCaps($0.context, context, type, filterCaps, numFilterCaps)
                }
            }
        }
        if unsafe wrapped.vaQueryVideoProcPipelineCaps != nil {
            unsafe vaQueryVideoProcPipelineCaps = { client, context, filters, numFilters, pipelineCaps in
                unsafe pass(client, "vaQueryVideoProcPipelineCaps") {
                    unsafe $0.processing.pointee.vaQueryVideoProcPipelineCaps($0.context, context, filters, numFilters, pipelineCaps)
                }
            }
        }
    }
}

extension VADriverVTableProt {
    /// Wraps the protected session calls that the wrapped driver implements.
    mutating func wrapAll(_ wrapped: VADriverVTableProt) {
        if unsafe wrapped.vaCreateProtectedSession != nil {
            unsafe vaCreateProtectedSession = { client, configId, protectedSession in
                unsafe pass(client, "vaCreateProtectedSession") {
                    unsafe $0.protection.pointee.vaCreateProtectedSession($0.context, configId, protectedSession)
                }
            }
        }
        if unsafe wrapped.vaDestroyProtectedSession != nil {
            unsafe vaDestroyProtectedSession = { client, protectedSession in
                unsafe pass(client, "vaDestroyProtectedSession") {
                    unsafe $0.protection.pointee.vaDestroyProtectedSession($0.context, protectedSession)
                }
            }
        }
        if unsafe wrapped.vaAttachProtectedSession != nil {
            unsafe vaAttachProtectedSession = { client, context, protectedSession in
                unsafe pass(client, "vaAttachProtectedSession") {
                    unsafe $0.protection.pointee.vaAttachProtectedSession($0.context, context, protectedSession)
                }
            }
        }
        if unsafe wrapped.vaDetachProtectedSession != nil {
            unsafe vaDetachProtectedSession = { client, context in
                unsafe pass(client, "vaDetachProtectedSession") { unsafe $0.protection.pointee.vaDetachProtectedSession($0.context, context) }
            }
        }
        if unsafe wrapped.vaProtectedSessionExecute != nil {
            unsafe vaProtectedSessionExecute = { client, protectedSession, bufId in
                unsafe pass(client, "vaProtectedSessionExecute") {
                    unsafe $0.protection.pointee.vaProtectedSessionExecute($0.context, protectedSession, bufId)
                }
            }
        }
    }
}
