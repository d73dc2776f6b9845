public import CVA

/// The one symbol that libva looks for (`va_backend.h`).
@_cdecl("__vaDriverInit_1_0")
public func vaDriverInit(_ context: VADriverContextP?) -> VAStatus {
    VAStatus(VA_STATUS_ERROR_UNIMPLEMENTED)
}
