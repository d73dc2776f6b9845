import CVA
import Glibc
import ReferenceDriver

/// A client on the driver's own vtable, without libva in between, so that it gets the driver's own results.
final class Client: @unchecked Sendable {
    let context: VADriverContextP
    var table: VADriverVTable { context.pointee.vtable.pointee }
    private var isOpen = true

    init(_ environment: Environment = Environment(isStrict: true)) {
        context = .allocate(capacity: 1)
        context.initialize(to: VADriverContext())
        context.pointee.vtable = .allocate(capacity: 1)
        context.pointee.vtable.initialize(to: VADriverVTable())
        context.pointee.vtable_vpp = .allocate(capacity: 1)
        context.pointee.vtable_vpp.initialize(to: VADriverVTableVPP())
        precondition(openDriver(context, environment) == VA_STATUS_SUCCESS)
    }

    /// A client on a driver that hides HEVC.
    static var withoutHEVC: Client {
        var environment = Environment(isStrict: true)
        environment.offersHEVC = false
        return Client(environment)
    }

    func terminate() -> VAStatus {
        isOpen = false
        return table.vaTerminate(context)
    }

    deinit {
        if isOpen { _ = terminate() }
        context.pointee.vtable.deallocate()
        context.pointee.vtable_vpp.deallocate()
        context.deallocate()
    }

    func createConfig(
        _ profile: VAProfile = VAProfileH264High, _ entrypoint: VAEntrypoint = VAEntrypointEncSlice,
        _ attributes: [(VAConfigAttribType, UInt32)] = []
    ) -> (VAStatus, VAConfigID) {
        var list = attributes.map { VAConfigAttrib(type: $0.0, value: $0.1) }
        var id: VAConfigID = 0
        let status = table.vaCreateConfig(context, profile, entrypoint, &list, Int32(list.count), &id)
        return (status, id)
    }

    func createSurfaces(
        _ width: Int, _ height: Int, _ count: Int = 1, format: Int32 = VA_RT_FORMAT_YUV420,
        _ attributes: [VASurfaceAttrib] = []
    ) -> (VAStatus, [VASurfaceID]) {
        var ids = [VASurfaceID](repeating: 0, count: max(count, 1))
        var list = attributes
        let status = table.vaCreateSurfaces2(
            context, UInt32(bitPattern: format), UInt32(width), UInt32(height), &ids, UInt32(count), &list,
            UInt32(list.count))
        return (status, ids)
    }

    func createContext(_ config: VAConfigID, _ width: Int, _ height: Int, targets: [VASurfaceID] = []) -> (
        VAStatus, VAContextID
    ) {
        var id: VAContextID = 0
        var list = targets
        let status = table.vaCreateContext(
            context, config, Int32(width), Int32(height), VA_PROGRESSIVE, &list, Int32(list.count), &id)
        return (status, id)
    }

    func createBuffer(
        _ owner: VAContextID, _ type: VABufferType, size: Int, count: Int = 1, data: UnsafeMutableRawPointer? = nil
    ) -> (VAStatus, VABufferID) {
        var id: VABufferID = 0
        let status = table.vaCreateBuffer(context, owner, type, UInt32(size), UInt32(count), data, &id)
        return (status, id)
    }

    func createBuffer<Value>(_ owner: VAContextID, _ type: VABufferType, _ value: Value) -> VABufferID {
        var copy = value
        return withUnsafeMutableBytes(of: &copy) { bytes in
            let (status, id) = createBuffer(owner, type, size: bytes.count, data: bytes.baseAddress)
            precondition(status == VA_STATUS_SUCCESS)
            return id
        }
    }

    func createBuffer(_ owner: VAContextID, _ type: VABufferType, bytes: [UInt8]) -> VABufferID {
        var copy = bytes
        let (status, id) = createBuffer(owner, type, size: bytes.count, data: &copy)
        precondition(status == VA_STATUS_SUCCESS)
        return id
    }

    func render(_ owner: VAContextID, _ buffers: [VABufferID]) -> VAStatus {
        var list = buffers
        return table.vaRenderPicture(context, owner, &list, Int32(list.count))
    }

    func destroySurfaces(_ ids: [VASurfaceID]) -> VAStatus {
        var list = ids
        return table.vaDestroySurfaces(context, &list, Int32(list.count))
    }

    func map(_ buffer: VABufferID) -> (VAStatus, UnsafeMutableRawPointer?) {
        var address: UnsafeMutableRawPointer?
        return (table.vaMapBuffer(context, buffer, &address), address)
    }

    func unmap(_ buffer: VABufferID) -> VAStatus { table.vaUnmapBuffer(context, buffer) }
    func destroy(_ buffer: VABufferID) -> VAStatus { table.vaDestroyBuffer(context, buffer) }

    func derive(_ surface: VASurfaceID) -> (VAStatus, VAImage) {
        var image = VAImage()
        return (table.vaDeriveImage(context, surface, &image), image)
    }

    func createImage(_ fourcc: Int32, _ width: Int, _ height: Int) -> (VAStatus, VAImage) {
        var format = VAImageFormat()
        format.fourcc = UInt32(bitPattern: fourcc)
        var image = VAImage()
        return (table.vaCreateImage(context, &format, Int32(width), Int32(height), &image), image)
    }

    /// Returns the coded bytes, the first segment's status, and the number of segments.
    func coded(_ buffer: VABufferID) -> (bytes: [UInt8], status: UInt32, segments: Int)? {
        let (status, address) = map(buffer)
        guard status == VA_STATUS_SUCCESS else { return nil }
        var bytes: [UInt8] = []
        var segments = 0
        var flags: UInt32 = 0
        var next = address?.assumingMemoryBound(to: VACodedBufferSegment.self)
        while let segment = next {
            bytes += UnsafeRawBufferPointer(start: segment.pointee.buf, count: Int(segment.pointee.size))
            flags |= segment.pointee.status
            segments += 1
            next = segment.pointee.next?.assumingMemoryBound(to: VACodedBufferSegment.self)
        }
        guard unmap(buffer) == VA_STATUS_SUCCESS else { return nil }
        return (bytes, flags, segments)
    }
}

extension VASurfaceAttrib {
    init(_ type: VASurfaceAttribType, _ value: Int32) {
        self.init()
        self.type = type
        flags = UInt32(VA_SURFACE_ATTRIB_SETTABLE)
        self.value.type = VAGenericValueTypeInteger
        self.value.value.i = value
    }
}
