internal import Glibc
internal import Synchronization

/// The process's environment variables.
package enum Environment {
    /// One change at a time; and every list that `with` made, for good: whoever reads may hold it still.
    private static let lock = Mutex<[VariableList]>([])

    /// The variable's value; nil where it is not set.
    package static func value(_ name: String) -> String? {
        // SAFETY: the string is copied at once; what `with` puts in place stays.
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }

    /// Runs `body` while the whole process sees the variables so; nil takes one away.
    ///
    /// Other threads may read meanwhile, libraries' included. `setenv` would break their `getenv`: glibc moves the list
    /// that they go through, and frees the old one. So the list in place is never changed: another takes its place, and
    /// the old one comes back. What other threads set meanwhile, with a risk of their own, is kept.
    ///
    /// - Parameter variables: no nested calls, neither in `body` nor below it.
    package static func with<R: Sendable>(_ variables: [String: String?], _ body: () throws -> R) rethrows -> R {
        // SAFETY: environ is read by all and written here under the lock, a pointer in one step.
        guard let environ = unsafe VariableList.environ else { return try body() }
        return try lock.withLock { made in
            let before = unsafe environ.pointee
            let list: VariableList
            if let known = made.first(where: { unsafe $0.isChanged(before, by: variables) }) {
                list = known
            } else {
                list = unsafe VariableList(changing: before, by: variables)
                made.append(list)
            }
            let old = variables.keys.map { ($0, value($0)) }
            unsafe environ.pointee = list.pointer
            defer {
                if unsafe environ.pointee == list.pointer {
                    unsafe environ.pointee = before
                    list.keepOthersChanges(ours: variables)
                } else {
                    // Somebody's setenv has made a copy, and perhaps freed the list before: this one stays.
                    for (name, value) in old { set(name, value) }
                }
            }
            return try body()
        }
    }

    private static func set(_ name: String, _ value: String?) {
        _ = if let value { unsafe setenv(name, value, 1) } else { unsafe unsetenv(name) }
    }
}

/// A list of environment variables of our own: made once, never freed.
private final class VariableList: Sendable {
    typealias List = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// The C library's variable; nil where it has none.
    static var environ: UnsafeMutablePointer<List?>? {
        unsafe dlsym(nil, "environ")?.assumingMemoryBound(to: List?.self)
    }

    /// Where the list is: pointers to strings, and nil. Strings that are not changed are those of the list before.
    private let address: UInt
    /// Where the strings are, of the list before and of this one.
    private let before, strings: [UInt]
    private let variables: [String: String?]

    init(changing list: List?, by variables: [String: String?]) {
        self.variables = variables
        before = unsafe Self.strings(of: list)
        let kept = before.filter { string in !variables.keys.contains { Self.name(of: string) == $0 } }
        let new = variables.compactMap { name, value in
            value.map { unsafe UInt(bitPattern: strdup("\(name)=\($0)")) }
        }
        strings = kept + new
        let list = List.allocate(capacity: strings.count + 1)
        unsafe list.initialize(repeating: nil, count: strings.count + 1)
        for (index, string) in strings.enumerated() { unsafe list[index] = UnsafeMutablePointer(bitPattern: string) }
        address = UInt(bitPattern: list)
    }

    var pointer: List? { unsafe List(bitPattern: address) }

    /// Whether this is that list with those changes, and nobody has changed it: the same strings at the same places.
    func isChanged(_ list: List?, by variables: [String: String?]) -> Bool {
        unsafe self.variables == variables && before == Self.strings(of: list) && strings == Self.strings(of: pointer)
    }

    /// What somebody changed in this list while it was in place is changed in the list in place now.
    func keepOthersChanges(ours: [String: String?]) {
        let now = unsafe Self.strings(of: pointer)
        guard now != strings else { return }
        let names = now.map(Self.name)
        for (string, name) in zip(now, names) where !strings.contains(string) {
            guard let name, ours.keys.contains(name) == false else { continue }
            // SAFETY: the string is one that glibc made and keeps; its name and an equals sign come first.
            _ = unsafe UnsafePointer<CChar>(bitPattern: string).map { unsafe setenv(name, $0 + name.utf8.count + 1, 1) }
        }
        for name in strings.compactMap(Self.name) where !ours.keys.contains(name) && !names.contains(name) {
            _ = unsafe unsetenv(name)
        }
    }

    static func strings(of list: List?) -> [UInt] {
        var strings: [UInt] = []
        guard let list = unsafe list else { return strings }
        while let string = unsafe list[strings.count] { strings.append(UInt(bitPattern: string)) }
        return strings
    }

    private static func name(of string: UInt) -> String? {
        guard let text = unsafe UnsafePointer<CChar>(bitPattern: string), let equals = unsafe strchr(text, 61) else {
            return nil
        }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: text, count: UnsafePointer(equals) - text), as: UTF8.self)
    }
}
