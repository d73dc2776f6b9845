import Glibc
import VideoBase

/// Converts errno values of failed system calls to `VaencError`.
enum SystemError {
    /// Returns the system's text for an errno.
    static func text(_ code: Int32) -> String {
        // SAFETY: the string belongs to the calling thread until its next strerror call. It is copied at once.
        unsafe String(cString: strerror(code))
    }

    /// Returns the error for a failure to open or read the input `name`.
    static func input(_ code: Int32, _ name: String) -> VaencError {
        if let error = lack(code, "to read \(name)") { return error }
        return switch code {
        case ENOENT where isLink(name), ELOOP where isLink(name):
            VaencError(.noInput, "\(name) is a link that leads nowhere", remedy: "correct the link, or name the file itself")
        case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP:
            VaencError(
                .noInput, "there is no file \(name)", remedy: FileName.prefixAdvice(name) ?? "check its name and folder")
        case EACCES, EPERM:
            VaencError(.noPermission, "no permission to read \(name)", remedy: "check its access rights with ls -l")
        case EBADF: VaencError(.inputOutput, "\(name) is closed", remedy: "connect a pipe or a file to it, or name a file")
        case EISDIR: VaencError(.badInput, "\(name) is a folder", remedy: "name a file in it")
        default:
            VaencError(
                .inputOutput, "reading \(name) failed (\(text(code)))", remedy: "check the disk or the connection")
        }
    }

    /// Returns the error for a failure to create the output `name`.
    static func creation(_ code: Int32, _ name: String) -> VaencError {
        if let error = lack(code, "to create \(name)") { return error }
        return switch code {
        case ENOENT where hasFolder(name):
            VaencError(
                .cannotCreate, "cannot create \(name): its folder does not allow new files",
                remedy: "choose another folder")
        case ENOTDIR:
            VaencError(
                .cannotCreate, "cannot create \(name): a part of its path is a file, not a folder",
                remedy: "choose another folder")
        case ENOENT:
            VaencError(
                .cannotCreate, "cannot create \(name): its folder does not exist", remedy: "create the folder first")
        case EACCES, EPERM:
            VaencError(
                .noPermission, "no permission to create \(name)", remedy: "choose a folder that you can write to")
        case EISDIR: VaencError(.cannotCreate, "\(name) is a folder", remedy: "name a file in it")
        case EEXIST: exists(name)
        default: VaencError(.cannotCreate, "cannot create \(name) (\(text(code)))", remedy: "choose another name or folder")
        }
    }

    /// Returns the error for an exceeded limit of the system or of this process, which does not depend on the file; nil
    /// for any other code.
    private static func lack(_ code: Int32, _ purpose: String) -> VaencError? {
        switch code {
        case EMFILE, ENFILE: VaencError.noDescriptor(purpose)
        case ENOMEM: VaencError.noMemory(purpose)
        default: nil
        }
    }

    private static func isLink(_ name: String) -> Bool {
        var status = stat()
        // SAFETY: lstat reads the string and fills the structure.
        return unsafe lstat(FileName.cString(name), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether the folder of `name` exists. In some existing folders, such as /proc, no file can be created.
    private static func hasFolder(_ name: String) -> Bool {
        let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? "."
        // SAFETY: access reads the string.
        return unsafe access(FileName.cString(folder), F_OK) == 0
    }

    /// Returns the error for a failure to write to the output `name`.
    static func writing(_ code: Int32, _ name: String) -> VaencError {
        switch code {
        case ENOSPC, EDQUOT:
            VaencError(
                .inputOutput, "writing \(name) failed: the disk is full",
                remedy: "free some space, or write to another disk")
        case EPIPE:
            VaencError(
                .inputOutput, "writing \(name) failed: the reader closed the pipe",
                remedy: "check the messages of the reading program")
        case EFBIG:
            VaencError(
                .inputOutput, "writing \(name) failed: the file is larger than the system allows",
                remedy: "raise the limit (ulimit -f), or write to another file system")
        default:
            VaencError(
                .inputOutput, "writing \(name) failed (\(text(code)))", remedy: "check the disk or the connection")
        }
    }

    static func exists(_ name: String) -> VaencError {
        VaencError(.cannotCreate, "\(name) exists", remedy: "add `overwrite` to replace it")
    }

    static let interrupted = VaencError(.interrupted, "interrupted")
}
