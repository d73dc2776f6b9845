internal import CVA
internal import Glibc
internal import Synchronization

/// The driver behind a display of the fault driver: a context of its own, made like the client's, and its calls.
@safe final class WrappedDriver: @unchecked Sendable {
    // SAFETY: all from calloc, filled by the wrapped driver's init, freed in deinit after its vaTerminate. Calls may
    // come from several threads: the tables do not change after init.
    let context: VADriverContextP
    let calls: UnsafeMutablePointer<VADriverVTable>
    let processing: UnsafeMutablePointer<VADriverVTableVPP>
    let protection: UnsafeMutablePointer<VADriverVTableProt>
    let buffers = BufferKinds()
    let counter: CallCounter
    /// VAENC_FAULT_TRACE.
    let tracePath: String?
    /// What every call returns since the device was lost; nil before.
    private let lost = Mutex<VAStatus?>(nil)

    /// The driver of the client's display.
    static func of(_ client: VADriverContextP?) -> WrappedDriver? {
        guard let client = unsafe client, let data = unsafe client.pointee.pDriverData else { return nil }
        return unsafe Unmanaged<WrappedDriver>.fromOpaque(data).takeUnretainedValue()
    }

    /// Counts a call, and says what goes wrong with it.
    func fault(_ call: String) -> FaultPlan.Fault? {
        let fault = counter.next(call)
        return lost.withLock { lost in
            if let status = lost { return .lost(status) }
            if case .lost(let status) = fault { lost = status }
            return fault
        }
    }

    /// nil where memory is out.
    ///
    /// Drivers built for other versions of libva than this one may know more calls: their tables have room.
    init?(like client: VADriverContextP, _ counter: CallCounter, tracePath: String?) {
        let context = unsafe Self.allocate(VADriverContext.self)
        let calls = unsafe Self.allocate(VADriverVTable.self)
        let processing = unsafe Self.allocate(VADriverVTableVPP.self)
        let protection = unsafe Self.allocate(VADriverVTableProt.self)
        guard let context = unsafe context, let calls = unsafe calls, let processing = unsafe processing,
            let protection = unsafe protection
        else { return nil }
        self.counter = counter
        self.tracePath = tracePath
        unsafe context.pointee = client.pointee
        unsafe context.pointee.pDriverData = nil
        unsafe context.pointee.vtable = calls
        if let table = unsafe client.pointee.vtable_vpp { unsafe processing.pointee.version = table.pointee.version }
        if let table = unsafe client.pointee.vtable_prot { unsafe protection.pointee.version = table.pointee.version }
        unsafe context.pointee.vtable_vpp = processing
        unsafe context.pointee.vtable_prot = protection
        unsafe self.context = context
        unsafe self.calls = calls
        unsafe self.processing = processing
        unsafe self.protection = protection
    }

    deinit {
        unsafe free(context)
        unsafe free(calls)
        unsafe free(processing)
        unsafe free(protection)
    }

    private static func allocate<T>(_: T.Type) -> UnsafeMutablePointer<T>? {
        unsafe calloc(1, MemoryLayout<T>.size + 2048)?.bindMemory(to: T.self, capacity: 1)
    }
}

/// `CodedBuffers` for several threads.
final class BufferKinds: Sendable {
    private let coded = Mutex(CodedBuffers())

    func made(_ buffer: VABufferID, isCoded: Bool) { coded.withLock { $0.made(buffer, isCoded: isCoded) } }

    func isCoded(_ buffer: VABufferID) -> Bool { coded.withLock { $0.isCoded(buffer) } }
}
