import Synchronization

/// The streams that this process has encoded: many tests read the same stream.
enum MadeStreams {
    /// One stream. A test that needs a stream while another test encodes it waits for the result.
    private final class Entry: Sendable {
        let bytes = Mutex<[UInt8]?>(nil)
    }

    private static let entries = Mutex<[String: Entry]>([:])

    /// Returns the stream with this name. Calls `encode` if the process has not made the stream yet.
    static func stream(_ name: String, encode: () throws -> [UInt8]) throws -> [UInt8] {
        let entry = entries.withLock { entries in
            if let entry = entries[name] { return entry }
            let entry = Entry()
            entries[name] = entry
            return entry
        }
        return try entry.bytes.withLock { bytes in
            if let bytes { return bytes }
            let made = try encode()
            bytes = made
            return made
        }
    }
}
