import Glibc
import VideoBase

/// The files that a name refers to on the file systems, independently of its spelling: through links, other folders, or
/// other hard links of the same file.
struct FileIdentities {
    private enum Identity: Hashable {
        case file(device: dev_t, inode: ino_t)
        /// A name in a folder, whether or not the file exists.
        case entry(device: dev_t, folder: ino_t, name: [CChar])

        init(_ status: stat) { self = .file(device: status.st_dev, inode: status.st_ino) }
    }

    /// The names of a playlist's HLS segments, such as `STEM00000.ts`.
    private struct Segments: Hashable {
        var device: dev_t
        var folder: ino_t
        var stem: [CChar]

        /// Whether `identity` may be the name of a segment: the same folder, and a number of five digits, or more for
        /// larger numbers.
        func contain(_ identity: Identity) -> Bool {
            guard case .entry(device, folder, var name) = identity, name.starts(with: stem) else { return false }
            name.removeFirst(stem.count)
            let number = name.prefix { (48...57).contains($0) }
            // A number of more than five digits does not begin with 0.
            let isNumber = number.count == 5 || number.count > 5 && number[0] != 48
            return isNumber && SegmentFolder.endings.contains { Array(name[number.endIndex...]) == FileName.cString("." + $0) }
        }
    }

    private var identities: Set<Identity> = []
    private var segments: Set<Segments> = []

    /// Collects the file of an output, its name, and the name of the unfinished file, `NAME.part`. For an output that
    /// is written in place, collects only the file. For a playlist, also collects the segments.
    init(output path: String, options: SinkOptions) {
        if path == "-" {
            if let status = Self.status(STDOUT_FILENO) { identities.insert(Identity(status)) }
            return
        }
        let path = (try? OutputFile.followed(path)) ?? path
        if let status = Self.status(path) {
            identities.insert(Identity(status))
            if status.st_mode & S_IFMT != S_IFREG { return }
        }
        if let status = Self.status(path + ".part") { identities.insert(Identity(status)) }
        let isPlaylist = !path.contains("://") && (try? MediaOutput.format(of: path, options: options).format) == .hls
        let (folder, name) = Self.parts(of: path)
        // If the folder does not exist, the name cannot be resolved and is compared as it is.
        let status = Self.status(folder)
        let location = (device: status?.st_dev ?? 0, folder: status?.st_ino ?? 0, name: status == nil ? path : name)
        func add(_ name: String) {
            identities.insert(.entry(device: location.device, folder: location.folder, name: FileName.cString(name)))
        }
        for ending in ["", ".part", ".part.whole"] { add(location.name + ending) }
        guard isPlaylist else { return }
        let stem = SegmentFolder.stem(location.name)
        segments.insert(
            Segments(device: location.device, folder: location.folder, stem: FileName.cString(stem).dropLast()))
        for name in [location.name, SegmentFolder.initialName(stem)] { add(name + SegmentFolder.unfinished) }
        add(SegmentFolder.initialName(stem))
    }

    /// Returns the folder of a path, and the name in it.
    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// Collects the file that is read; empty if it is not a regular file.
    init(input path: String) {
        let status = path == "-" ? Self.status(STDIN_FILENO) : Self.status(path)
        if let status, status.st_mode & S_IFMT == S_IFREG { identities.insert(Identity(status)) }
    }

    /// Collects the resolved name of the file that is read.
    init(nameOf path: String) {
        guard !FileIdentities(input: path).identities.isEmpty, path != "-" else { return }
        let (folder, name) = Self.parts(of: (try? OutputFile.followed(path)) ?? path)
        if let status = Self.status(folder) {
            identities.insert(.entry(device: status.st_dev, folder: status.st_ino, name: FileName.cString(name)))
        }
    }

    /// Whether the two have a file or a name in common.
    func meet(_ other: FileIdentities) -> Bool {
        !identities.isDisjoint(with: other.identities) || !segments.isDisjoint(with: other.segments)
            || contains(other) || other.contains(self)
    }

    /// Whether a playlist's files may have one of the names in `other`.
    private func contains(_ other: FileIdentities) -> Bool {
        segments.contains { names in other.identities.contains(where: names.contain) }
    }

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
    /// Whether two outputs conflict: they are one file with two names, or one output is the other's unfinished file or
    /// a file of its playlist.
    public static func refersToSameFile(_ a: String, _ b: String, options: SinkOptions = SinkOptions()) -> Bool {
        a == b || FileIdentities(output: a, options: options).meet(FileIdentities(output: b, options: options))
    }

    /// Returns the name of the file that writing `output` would overwrite while `input` is read; nil if there is no
    /// conflict.
    public static func overwritten(_ input: String, by output: String, options: SinkOptions = SinkOptions()) -> String? {
        let (read, written) = (FileIdentities(input: input), FileIdentities(output: output, options: options))
        guard read.meet(written) else { return FileIdentities(nameOf: input).meet(written) ? input : nil }
        let isPart = output != "-" && !read.meet(FileIdentities(input: output))
        return isPart ? output + ".part" : output == "-" ? "standard output" : output
    }

    /// Returns the names of a playlist's files, for messages.
    package static func segmentWords(of playlist: String) -> String {
        let stem = SegmentFolder.stem(playlist)
        return "\(stem)00000.ts, \(stem)00000.m4s and so on, and \(SegmentFolder.initialName(stem))"
    }
}
