internal import CVA

/// A picture in a client's memory, as its descriptor says.
struct ExternalPicture {
    struct Object {
        var descriptor: Int32
        /// 0 where the client does not say.
        var byteCount: Int
        /// DRM_FORMAT_MOD_…
        var modifier: UInt64
    }

    struct Plane {
        var object: Int
        var offset: Int
        var pitch: Int
    }

    var fourcc: UInt32
    var width: Int
    var height: Int
    var objects: [Object]
    /// In the order of the format.
    var planes: [Plane]
    /// DRM_FORMAT_… with the number of planes, where the descriptor has layers.
    var layers: [(format: UInt32, planes: Int)] = []

    /// Maps the memory, in place, for a surface of that format and size.
    ///
    /// - Throws: a refusal for what contradicts itself, the surface, or the objects' sizes.
    func map(_ format: SurfaceFormat, width: Int, height: Int) throws -> (PlaneLayout, HostMemory) {
        try check(format, width: width, height: height)
        let shared = try objects.map { try SharedObject(importing: $0.descriptor, claimed: $0.byteCount) }
        for (object, claim) in zip(shared, objects) where object.byteCount > Self.mostBytes || claim.byteCount < 0 {
            throw Refusal.invalidParameter("an object's size of \(object.byteCount) bytes is out of range")
        }
        for (plane, place) in zip(format.planes, planes) {
            let bytes = objects[place.object].byteCount
            let room = bytes > 0 ? bytes : shared[place.object].byteCount
            let end =
                place.offset + place.pitch * (plane.rows(height: height) - 1) + plane.rowBytes(width: width)
            guard place.pitch >= plane.rowBytes(width: width), end <= room else {
                throw Refusal.invalidParameter(
                    "a plane of pitch \(place.pitch) at \(place.offset) does not fit an object of \(room) bytes")
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

    private static let mostBytes = 1 << 29

    private func check(_ format: SurfaceFormat, width: Int, height: Int) throws {
        guard fourcc == format.fourcc else {
            throw Refusal.invalidParameter("the descriptor and the surface have different pixel formats")
        }
        guard self.width >= width, self.height >= height else {
            throw Refusal.invalidParameter("a \(width)x\(height) surface does not fit a picture of "
                + "\(self.width)x\(self.height)")
        }
        guard planes.count == format.planes.count else {
            throw Refusal.invalidParameter("there are \(planes.count) planes, but the format has "
                + "\(format.planes.count)")
        }
        guard planes.allSatisfy({ objects.indices.contains($0.object) }) else {
            throw Refusal.invalidParameter("a plane refers to an object that does not exist")
        }
        guard objects.allSatisfy({ $0.modifier == Self.linear || $0.modifier == Self.unsaid }) else {
            throw Refusal.invalidParameter("only linear memory is supported")
        }
        if layers.isEmpty { return }
        let isOne = layers.count == 1 && layers[0] == (format.drmFormat, format.planes.count)
        let isEach =
            layers.count == format.planes.count && zip(layers, format.planes).allSatisfy { $0 == ($1.drmFormat, 1) }
        guard isOne || isEach else {
            throw Refusal.invalidParameter("the layers do not match the pixel format")
        }
    }

    /// DRM_FORMAT_MOD_LINEAR, and DRM_FORMAT_MOD_INVALID: what the system agreed on.
    static let linear: UInt64 = 0
    static let unsaid: UInt64 = 0xff_ffff_ffff_ffff
}
