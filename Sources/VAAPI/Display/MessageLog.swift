internal import CVA
internal import Synchronization

/// What libva and the driver say through their message callbacks, kept for the next error instead of going to stderr.
@safe final class MessageLog: Sendable {
    private let lines = Mutex<[String]>([])

    /// Makes a display report here. The log must live until the display's vaTerminate has returned.
    @unsafe func attach(to display: UnsafeMutableRawPointer) {
        // SAFETY: the callbacks get this object unretained; the Display that owns the log ends its driver before it.
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

    /// The last few lines, oldest first, and forgets them; nil when there were none.
    func take() -> String? {
        lines.withLock { lines in
            defer { lines.removeAll(keepingCapacity: true) }
            return lines.isEmpty ? nil : lines.joined(separator: "; ")
        }
    }
}

private func receiveMessage(context: UnsafeMutableRawPointer?, text: UnsafePointer<CChar>?) {
    // SAFETY: libva hands back the log given to vaSetErrorCallback, and a C string valid during the call.
    guard let context = unsafe context, let text = unsafe text else { return }
    unsafe Unmanaged<MessageLog>.fromOpaque(context).takeUnretainedValue().add(String(cString: text))
}
