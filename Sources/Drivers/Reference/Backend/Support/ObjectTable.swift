/// The objects of one kind by their VA id.
///
/// Ids count upwards and repeat only after 16 million objects. The top byte of an id is the kind, so that the id of an
/// object of another kind is never found.
struct ObjectTable<Object: AnyObject> {
    private static var mask: UInt32 { 0x00ff_ffff }
    private let kind: UInt32
    private var next: UInt32
    private var objects: [UInt32: Object] = [:]

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - kind: the top byte of the ids, 1…127.
    ///   - seed: the index of the display, so that displays begin with different ids.
    init(kind: UInt8, seed: Int) {
        self.kind = UInt32(kind) << 24
        next = UInt32(truncatingIfNeeded: seed & 0xff) << 16
    }

    subscript(id: UInt32) -> Object? { objects[id] }

    var all: [Object] { objects.values.map { $0 } }

    /// Calls `make` with a new id and adds the object that it returns.
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
