import Glibc

/// What a name means on the file systems, however it is written: through links, by way of other folders, by another of
/// the file's own names.
struct FilePlaces {
    private enum Place: Hashable {
        case file(device: dev_t, inode: ino_t)
        /// A name in a folder, be a file there or not.
        case entry(device: dev_t, folder: ino_t, name: [CChar])

        init(_ status: stat) { self = .file(device: status.st_dev, inode: status.st_ino) }
    }

    private var places: Set<Place> = []

    /// Where an output goes: the file and its name, and those of the unfinished `NAME.part`; of what is written in place
    /// the file alone.
    init(output path: String) {
        if path == "-" {
            if let status = Self.status(STDOUT_FILENO) { places.insert(Place(status)) }
            return
        }
        let path = (try? OutputFile.followed(path)) ?? path
        if let status = Self.status(path) {
            places.insert(Place(status))
            if status.st_mode & S_IFMT != S_IFREG { return }
        }
        if let status = Self.status(path + ".part") { places.insert(Place(status)) }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        // Where there is no such folder, what the name means is not known: it is compared as it stands.
        let status = Self.status(folder)
        for name in status == nil ? [path, path + ".part"] : [name, name + ".part"] {
            places.insert(
                .entry(device: status?.st_dev ?? 0, folder: status?.st_ino ?? 0, name: FileName.cString(name)))
        }
    }

    /// What is read; empty for what is no regular file.
    init(input path: String) {
        let status = path == "-" ? Self.status(STDIN_FILENO) : Self.status(path)
        if let status, status.st_mode & S_IFMT == S_IFREG { places.insert(Place(status)) }
    }

    func meet(_ other: FilePlaces) -> Bool { !places.isDisjoint(with: other.places) }

    private static func status(_ path: String) -> stat? {
        var result = stat()
        // SAFETY: stat reads the string and fills the structure.
        return unsafe stat(FileName.cString(path), &result) == 0 ? result : nil
    }

    private static func status(_ descriptor: Int32) -> stat? {
        var result = stat()
        // SAFETY: fstat fills the structure.
        return unsafe fstat(descriptor, &result) == 0 ? result : nil
    }
}

extension MediaOutput {
    /// Whether two outputs get into each other's way: one file by two names, or one's name for the other's unfinished file.
    public static func meets(_ a: String, _ b: String) -> Bool {
        a == b || FilePlaces(output: a).meet(FilePlaces(output: b))
    }

    /// The name of the file that writing the output would spoil while it is read; nil where that is none.
    public static func overwritten(_ input: String, by output: String) -> String? {
        guard FilePlaces(input: input).meet(FilePlaces(output: output)) else { return nil }
        let isPart = output != "-" && !FilePlaces(input: input).meet(FilePlaces(input: output))
        return isPart ? output + ".part" : output == "-" ? "standard output" : output
    }
}
