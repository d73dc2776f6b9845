import Glibc
import VideoBase

/// The errors for files in the benchmark's folder, by errno.
enum TemporaryFileError {
    static func creating(_ code: Int32, _ path: String) -> VaencError {
        let what = code == ENOSPC || code == EDQUOT ? "with free space" : "that is writable"
        return lack(code, "to create \(path)")
            ?? VaencError(.cannotCreate, "cannot create \(path) (\(text(code)))", remedy: "set TMPDIR to a folder \(what)")
    }

    static func writing(_ code: Int32, _ path: String) -> VaencError {
        if let error = lack(code, "to write \(path)") { return error }
        let remedy =
            switch code {
            case ENOSPC, EDQUOT: "free some space, or set TMPDIR to a folder with free space"
            case EFBIG: "raise the file size limit (ulimit -f), or measure fewer frames with --frames"
            default: "check the disk, or set TMPDIR to a folder on another disk"
            }
        return VaencError(.inputOutput, "cannot write \(path) (\(text(code)))", remedy: remedy)
    }

    /// Writes all bytes.
    ///
    /// - Returns: 0, or errno.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int32 {
        var done = 0
        while done < bytes.count {
            // SAFETY: the pointer and count stay inside the caller's bytes, which are only read.
            let count = unsafe Glibc.write(file, bytes.baseAddress! + done, bytes.count - done)
            if count > 0 { done += count } else if count == 0 || errno != EINTR { return count == 0 ? EIO : errno }
        }
        return 0
    }

    private static func lack(_ code: Int32, _ purpose: String) -> VaencError? {
        switch code {
        case EMFILE, ENFILE: VaencError.noDescriptor(purpose)
        case ENOMEM: VaencError.noMemory(purpose)
        default: nil
        }
    }

    private static func text(_ code: Int32) -> String {
        // SAFETY: the string belongs to the calling thread until its next strerror, and is copied immediately.
        unsafe String(cString: strerror(code))
    }
}
