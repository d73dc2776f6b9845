internal import FaultDriver
public import CVA

/// The driver's entry point, the only symbol that libva looks up (`va_backend.h`).
///
/// It is not part of the FaultDriver target, because tests link that target together with the reference driver. The
/// linker settings of this target link a separate Swift runtime into the driver file.
@_cdecl("__vaDriverInit_1_0")
public func vaDriverInit(_ context: VADriverContextP?) -> VAStatus { unsafe startFaultDriver(context) }
