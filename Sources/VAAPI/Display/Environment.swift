internal import Glibc
internal import Synchronization

/// The process's environment variables.
package enum Environment {
    /// Serializes changes, and holds every list that `with` created. The lists are never freed, because a reader may
    /// still use one.
    private static let lock = Mutex<[VariableList]>([])

    /// Returns the value of a variable, or nil if it is not set.
    package static func value(_ name: String) -> String? {
        // SAFETY: The string is copied immediately, and the lists that `with` installs are never freed.
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }

    /// All variables as `NAME=value`.
    package static var all: [String] {
        // SAFETY: The strings are copied immediately, and the lists that `with` installs are never freed.
        unsafe VariableList.strings(of: VariableList.environ?.pointee).compactMap { address in
            unsafe UnsafePointer<CChar>(bitPattern: address).map { unsafe String(cString: $0) }
        }
    }

    /// Runs `body` while the whole process sees these variables; a nil value removes a variable.
    ///
    /// Other threads, also those of libraries, may read the environment meanwhile. `setenv` would be unsafe for their
    /// `getenv`: glibc moves the list that they iterate over and frees the old one. Therefore the current list is never
    /// changed: a different list replaces it, and the old list is restored afterwards. Changes that other threads make
    /// meanwhile (unsafe in any case) are kept.
    ///
    /// - Parameter variables: The variables to set or remove. Calls must not be nested, neither in `body` nor in
    ///   functions that it calls.
    package static func with<R: Sendable>(_ variables: [String: String?], _ body: () throws -> R) rethrows -> R {
        // SAFETY: All threads may read `environ`. It is written here under the lock, as one pointer store.
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
                    // Another thread called setenv, which copied the list and may have freed the original one. The copy
                    // stays installed.
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

/// A list of environment variables that this process created. It is created once and never freed.
private final class VariableList: Sendable {
    typealias List = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// The C library's `environ` variable, or nil if there is none.
    static var environ: UnsafeMutablePointer<List?>? {
        unsafe dlsym(nil, "environ")?.assumingMemoryBound(to: List?.self)
    }

    /// The address of the list: pointers to strings, then nil. Unchanged strings are shared with the original list.
    private let address: UInt
    /// The addresses of the strings of the original list and of this list.
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

    /// Whether this list results from applying these changes to `list`, and nobody has changed it since: it has the
    /// same strings in the same order.
    func isChanged(_ list: List?, by variables: [String: String?]) -> Bool {
        unsafe self.variables == variables && before == Self.strings(of: list) && strings == Self.strings(of: pointer)
    }

    /// Applies the changes that other threads made to this list while it was installed to the list that is installed
    /// now.
    func keepOthersChanges(ours: [String: String?]) {
        let now = unsafe Self.strings(of: pointer)
        guard now != strings else { return }
        let names = now.map(Self.name)
        for (string, name) in zip(now, names) where !strings.contains(string) {
            guard let name, ours.keys.contains(name) == false else { continue }
            // SAFETY: glibc created the string and keeps it. It starts with the name and an equals sign.
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
