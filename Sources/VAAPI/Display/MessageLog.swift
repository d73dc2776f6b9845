internal import CVA
internal import Synchronization

/// The messages that libva and the driver report through their callbacks. They are kept for the next error instead of
/// being written to stderr.
@safe final class MessageLog: Sendable {
    private let lines = Mutex<[String]>([])

    /// Makes a display report its messages here. The log must outlive the display's vaTerminate.
    @unsafe func attach(to display: UnsafeMutableRawPointer) {
        // SAFETY: The callbacks get this object unretained. The Display that owns the log ends its driver first.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe vaSetErrorCallback(display, receiveMessage, context)
        _ = unsafe vaSetInfoCallback(display, nil, nil)
    }

    func add(_ line: String) {
        let line = Display.printable(line.split(whereSeparator: \.isNewline).joined(separator: " "))
        if line.isEmpty { return }
        lines.withLock { lines in
            if lines.count == 4 { lines.removeFirst() }
            lines.append(line)
        }
    }

    /// Returns and removes the last messages (at most 4, oldest first), or returns nil if there are none.
    func take() -> String? {
        lines.withLock { lines in
            defer { lines.removeAll(keepingCapacity: true) }
            return lines.isEmpty ? nil : lines.joined(separator: "; ")
        }
    }
}

private func receiveMessage(context: UnsafeMutableRawPointer?, text: UnsafePointer<CChar>?) {
    // SAFETY: libva passes the log that was given to vaSetErrorCallback, and a C string that is valid during the call.
    guard let context = unsafe context, let text = unsafe text else { return }
    unsafe Unmanaged<MessageLog>.fromOpaque(context).takeUnretainedValue().add(String(cString: text))
}
