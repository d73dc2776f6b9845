internal import CVA

/// The description of a picture in the client's memory.
struct ExternalPicture {
    struct Object {
        var descriptor: Int32
        /// The size in bytes, or 0 if the client does not state it.
        var byteCount: Int
        /// A DRM_FORMAT_MOD_… value.
        var modifier: UInt64
        /// The address of the client's memory; nil if the object has a descriptor.
        var address: UInt?
    }

    struct Plane {
        /// The index of the object.
        var object: Int
        /// The offset in the object, in bytes.
        var offset: Int
        /// The distance between rows in bytes.
        var pitch: Int
    }

    var fourcc: UInt32
    var width: Int
    var height: Int
    var objects: [Object]
    /// The planes in the order of the pixel format.
    var planes: [Plane]
    /// The DRM_FORMAT_… code and the number of planes of each layer. Empty if the descriptor has no layers.
    var layers: [(format: UInt32, planes: Int)] = []

    /// Maps the client's memory for a surface of a format and size, without a copy.
    ///
    /// - Throws: INVALID_PARAMETER if the description contradicts itself, the surface or the sizes of the objects.
    func map(_ format: SurfaceFormat, width: Int, height: Int) throws -> (PlaneLayout, HostMemory) {
        try check(format, width: width, height: height)
        if let address = objects[0].address { return try borrow(address, format, width: width, height: height) }
        let shared = try objects.map { try SharedObject(importing: $0.descriptor, statedByteCount: $0.byteCount) }
        for (object, stated) in zip(shared, objects)
        where object.byteCount > Self.maximumObjectBytes || stated.byteCount < 0 {
            throw Refusal.invalidParameter("an object's size of \(object.byteCount) bytes is out of range")
        }
        for (plane, location) in zip(format.planes, planes) {
            let bytes = objects[location.object].byteCount
            let room = bytes > 0 ? bytes : shared[location.object].byteCount
            let end =
                location.offset + location.pitch * (plane.rows(height: height) - 1) + plane.rowBytes(width: width)
            guard location.pitch >= plane.rowBytes(width: width), end <= room else {
                throw Refusal.invalidParameter(
                    "a plane of pitch \(location.pitch) at \(location.offset) does not fit an object of \(room) bytes")
            }
        }
        guard let memory = HostMemory(objects: shared) else {
            throw Refusal.invalidParameter("the objects cannot be mapped for reading and writing")
        }
        let layout = PlaneLayout(
            format: format, width: width, height: height, pitches: planes.map(\.pitch),
            offsets: planes.map { HostMemory.offset(of: $0.object, in: shared) + $0.offset },
            byteCount: memory.byteCount)
        return (layout, memory)
    }

    /// Uses the client's memory, which must stay mapped until the surface is destroyed.
    private func borrow(
        _ address: UInt, _ format: SurfaceFormat, width: Int, height: Int
    ) throws -> (PlaneLayout, HostMemory) {
        let byteCount = objects[0].byteCount
        guard address > 0, address % UInt(HostMemory.page) == 0, byteCount > 0, byteCount % HostMemory.page == 0,
            byteCount <= Self.maximumObjectBytes
        else { throw Refusal.invalidParameter("memory of \(byteCount) bytes at \(address) is not in whole pages") }
        for (plane, location) in zip(format.planes, planes) {
            let end = location.offset + location.pitch * (plane.rows(height: height) - 1) + plane.rowBytes(width: width)
            guard location.pitch >= plane.rowBytes(width: width), end <= byteCount - HostMemory.slack else {
                throw Refusal.invalidParameter(
                    "a plane of pitch \(location.pitch) at \(location.offset) and \(HostMemory.slack) bytes after it do not fit "
                        + "memory of \(byteCount) bytes")
            }
        }
        guard let memory = HostMemory(borrowing: address, byteCount: byteCount) else {
            throw Refusal.invalidParameter("the memory at \(address) is not mapped")
        }
        let layout = PlaneLayout(
            format: format, width: width, height: height, pitches: planes.map(\.pitch), offsets: planes.map(\.offset), byteCount: byteCount)
        return (layout, memory)
    }

    private static let maximumObjectBytes = 1 << 29

    private func check(_ format: SurfaceFormat, width: Int, height: Int) throws {
        guard fourcc == format.fourcc else {
            throw Refusal.invalidParameter("the descriptor and the surface have different pixel formats")
        }
        guard self.width >= width, self.height >= height else {
            throw Refusal.invalidParameter(
                "a \(width)x\(height) surface does not fit a picture of "
                    + "\(self.width)x\(self.height)")
        }
        guard planes.count == format.planes.count else {
            throw Refusal.invalidParameter(
                "there are \(planes.count) planes, but the format has "
                    + "\(format.planes.count)")
        }
        guard planes.allSatisfy({ objects.indices.contains($0.object) }) else {
            throw Refusal.invalidParameter("a plane refers to an object that does not exist")
        }
        guard objects.allSatisfy({ $0.modifier == Self.linear || $0.modifier == Self.implicit }) else {
            throw Refusal.invalidParameter("only linear memory is supported")
        }
        if layers.isEmpty { return }
        let isComposed = layers.count == 1 && layers[0] == (format.drmFormat, format.planes.count)
        let isSeparate =
            layers.count == format.planes.count && zip(layers, format.planes).allSatisfy { $0 == ($1.drmFormat, 1) }
        guard isComposed || isSeparate else {
            throw Refusal.invalidParameter("the layers do not match the pixel format")
        }
    }

    /// DRM_FORMAT_MOD_LINEAR.
    static let linear: UInt64 = 0
    /// DRM_FORMAT_MOD_INVALID: the layout is implicit. The driver takes it as linear.
    static let implicit: UInt64 = 0xff_ffff_ffff_ffff
}
