internal import CVA
internal import Glibc
internal import Synchronization

/// The driver that a display of the fault driver wraps, with its own driver context and tables of calls.
@safe final class WrappedDriver: @unchecked Sendable {
    // SAFETY: the context and the tables are allocated with calloc and freed in deinit, when the wrapped driver has
    // terminated or has failed to start. Calls may come from several threads. This is safe because the tables do not
    // change after the wrapped driver's init has filled them.
    let context: VADriverContextP
    let calls: UnsafeMutablePointer<VADriverVTable>
    let processing: UnsafeMutablePointer<VADriverVTableVPP>
    let protection: UnsafeMutablePointer<VADriverVTableProt>
    let buffers = BufferKinds()
    let counter: CallCounter
    /// The path in VAENC_FAULT_TRACE, or nil.
    let tracePath: String?
    /// The status that every call returns after the device was lost, or nil while the device works.
    private let lost = Mutex<VAStatus?>(nil)

    /// Returns the wrapped driver of the client's display, or nil if the display is not open.
    static func of(_ client: VADriverContextP?) -> WrappedDriver? {
        guard let client = unsafe client, let data = unsafe client.pointee.pDriverData else { return nil }
        return unsafe Unmanaged<WrappedDriver>.fromOpaque(data).takeUnretainedValue()
    }

    /// Counts a call and returns its fault, or nil if it has none.
    ///
    /// After a `lost` fault, every call on this display is lost.
    func fault(_ call: String) -> FaultPlan.Fault? {
        let fault = counter.next(call)
        return lost.withLock { lost in
            if let status = lost { return .lost(status) }
            if case .lost(let status) = fault { lost = status }
            return fault
        }
    }

    /// Allocates a context that is a copy of the client's. Returns nil if there is not enough memory.
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

    /// Allocates a zeroed structure with 2048 extra bytes.
    ///
    /// A driver that was built for a newer version of libva may write more calls into its table than this version has.
    private static func allocate<T>(_: T.Type) -> UnsafeMutablePointer<T>? {
        unsafe calloc(1, MemoryLayout<T>.size + 2048)?.bindMemory(to: T.self, capacity: 1)
    }
}

/// A thread-safe `CodedBuffers`.
final class BufferKinds: Sendable {
    private let coded = Mutex(CodedBuffers())

    func register(_ buffer: VABufferID, isCoded: Bool) { coded.withLock { $0.register(buffer, isCoded: isCoded) } }

    func isCoded(_ buffer: VABufferID) -> Bool { coded.withLock { $0.isCoded(buffer) } }
}
