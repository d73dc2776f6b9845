internal import CVA

extension VADriverVTable {
    /// Wraps the config calls that the wrapped driver implements.
    mutating func wrapConfigs(_ wrapped: VADriverVTable) {
        if unsafe wrapped.vaQueryConfigProfiles != nil {
            unsafe vaQueryConfigProfiles = { client, profileList, numProfiles in
                unsafe pass(client, "vaQueryConfigProfiles") {
                    unsafe $0.calls.pointee.vaQueryConfigProfiles($0.context, profileList, numProfiles)
                } corrupt: {
                    unsafe numProfiles?.pointee = 0
                }
            }
        }
        if unsafe wrapped.vaQueryConfigEntrypoints != nil {
            unsafe vaQueryConfigEntrypoints = { client, profile, entrypointList, numEntrypoints in
                unsafe pass(client, "vaQueryConfigEntrypoints") {
                    unsafe $0.calls.pointee.vaQueryConfigEntrypoints($0.context, profile, entrypointList, numEntrypoints)
                } corrupt: {
                    unsafe numEntrypoints?.pointee = 0
                }
            }
        }
        if unsafe wrapped.vaGetConfigAttributes != nil {
            unsafe vaGetConfigAttributes = { client, profile, entrypoint, attribList, numAttribs in
                unsafe pass(client, "vaGetConfigAttributes") {
                    unsafe $0.calls.pointee.vaGetConfigAttributes($0.context, profile, entrypoint, attribList, numAttribs)
                } corrupt: {
                    for index in 0..<max(Int(numAttribs), 0) { unsafe attribList?[index].value = VA_ATTRIB_NOT_SUPPORTED }
                }
            }
        }
        if unsafe wrapped.vaCreateConfig != nil {
            unsafe vaCreateConfig = { client, profile, entrypoint, attribList, numAttribs, configId in
                unsafe pass(client, "vaCreateConfig") {
                    unsafe $0.calls.pointee.vaCreateConfig($0.context, profile, entrypoint, attribList, numAttribs, configId)
                } corrupt: {
                    unsafe configId?.pointee = VA_INVALID_ID
                }
            }
        }
        if unsafe wrapped.vaDestroyConfig != nil {
            unsafe vaDestroyConfig = { client, configId in
                unsafe pass(client, "vaDestroyConfig") { unsafe $0.calls.pointee.vaDestroyConfig($0.context, configId) }
            }
        }
        if unsafe wrapped.vaQueryConfigAttributes != nil {
            unsafe vaQueryConfigAttributes = { client, configId, profile, entrypoint, attribList, numAttribs in
                unsafe pass(client, "vaQueryConfigAttributes") {
                    unsafe $0.calls.pointee.vaQueryConfigAttributes($0.context, configId, profile, entrypoint, attribList, numAttribs)
                }
            }
        }
        if unsafe wrapped.vaQueryProcessingRate != nil {
            unsafe vaQueryProcessingRate = { client, configId, procBuf, processingRate in
                unsafe pass(client, "vaQueryProcessingRate") {
                    unsafe $0.calls.pointee.vaQueryProcessingRate($0.context, configId, procBuf, processingRate)
                }
            }
        }
        if unsafe wrapped.vaQueryDisplayAttributes != nil {
            unsafe vaQueryDisplayAttributes = { client, attrList, numAttributes in
                unsafe pass(client, "vaQueryDisplayAttributes") {
                    unsafe $0.calls.pointee.vaQueryDisplayAttributes($0.context, attrList, numAttributes)
                }
            }
        }
        if unsafe wrapped.vaGetDisplayAttributes != nil {
            unsafe vaGetDisplayAttributes = { client, attrList, numAttributes in
                unsafe pass(client, "vaGetDisplayAttributes") { unsafe $0.calls.pointee.vaGetDisplayAttributes($0.context, attrList, numAttributes) }
            }
        }
        if unsafe wrapped.vaSetDisplayAttributes != nil {
            unsafe vaSetDisplayAttributes = { client, attrList, numAttributes in
                unsafe pass(client, "vaSetDisplayAttributes") { unsafe $0.calls.pointee.vaSetDisplayAttributes($0.context, attrList, numAttributes) }
            }
        }
    }
}
