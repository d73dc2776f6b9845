internal import FaultDriver
public import CVA

/// The one symbol that libva looks for (`va_backend.h`). It is apart from the driver's code, which tests link beside
/// the reference driver's. The target's linker settings give the driver's file a Swift runtime of its own.
@_cdecl("__vaDriverInit_1_0")
public func vaDriverInit(_ context: VADriverContextP?) -> VAStatus { unsafe startFaultDriver(context) }
