// No code: the target's linker settings give the driver's file a Swift runtime of its own.
