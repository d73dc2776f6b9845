/// Objects of one kind by their VA id. Ids count upwards and come round only after 16 million objects; the top
/// byte tells the kind, so that an id of another kind is never found.
struct ObjectTable<Object: AnyObject> {
    private static var mask: UInt32 { 0x00ff_ffff }
    private let kind: UInt32
    private var next: UInt32
    private var objects: [UInt32: Object] = [:]

    /// `kind` 1…127. `seed` sets displays apart.
    init(kind: UInt8, seed: Int) {
        self.kind = UInt32(kind) << 24
        next = UInt32(truncatingIfNeeded: seed & 0xff) << 16
    }

    subscript(id: UInt32) -> Object? { objects[id] }

    var all: [Object] { objects.values.map { $0 } }

    /// Adds what `make` builds for a new id.
    mutating func insert(_ make: (UInt32) -> Object) -> Object {
        var id: UInt32
        repeat {
            next = (next + 1) & Self.mask
            id = kind | next
        } while objects[id] != nil
        let object = make(id)
        objects[id] = object
        return object
    }

    @discardableResult
    mutating func remove(_ id: UInt32) -> Object? { objects.removeValue(forKey: id) }

    mutating func removeAll() { objects.removeAll() }
}
