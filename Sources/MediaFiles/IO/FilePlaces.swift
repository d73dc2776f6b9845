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

    /// The names of a playlist's files: HLS segments, one of which is `STEM00000.ts`.
    private struct Segments: Hashable {
        var device: dev_t
        var folder: ino_t
        var stem: [CChar]

        /// Whether a segment may have a name in the same folder: at least five digits, and more only of larger numbers.
        func contain(_ place: Place) -> Bool {
            guard case .entry(device, folder, var name) = place, name.starts(with: stem) else { return false }
            name.removeFirst(stem.count)
            let number = name.prefix { (48...57).contains($0) }
            // A number of more digits does not begin with 0.
            let isNumber = number.count == 5 || number.count > 5 && number[0] != 48
            return isNumber && SegmentFolder.endings.contains { Array(name[number.endIndex...]) == FileName.cString("." + $0) }
        }
    }

    private var places: Set<Place> = []
    private var segments: Set<Segments> = []

    /// Where an output goes: the file and its name, and those of the unfinished `NAME.part`; of what is written in place
    /// the file alone; of a playlist its segments too.
    init(output path: String, options: SinkOptions) {
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
        let isPlaylist = !path.contains("://") && (try? MediaOutput.format(of: path, options: options).format) == .hls
        let (folder, name) = Self.parts(of: path)
        // Where there is no such folder, what the name means is not known: it is compared as it stands.
        let status = Self.status(folder)
        let place = (device: status?.st_dev ?? 0, folder: status?.st_ino ?? 0, name: status == nil ? path : name)
        func add(_ name: String) { places.insert(.entry(device: place.device, folder: place.folder, name: FileName.cString(name))) }
        for ending in ["", ".part", ".part.whole"] { add(place.name + ending) }
        guard isPlaylist else { return }
        let stem = SegmentFolder.stem(place.name)
        segments.insert(Segments(device: place.device, folder: place.folder, stem: FileName.cString(stem).dropLast()))
        for name in [place.name, SegmentFolder.initialName(stem)] { add(name + SegmentFolder.unfinished) }
        add(SegmentFolder.initialName(stem))
    }

    /// The folder of a path, and the name there.
    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// What is read; empty for what is no regular file.
    init(input path: String) {
        let status = path == "-" ? Self.status(STDIN_FILENO) : Self.status(path)
        if let status, status.st_mode & S_IFMT == S_IFREG { places.insert(Place(status)) }
    }

    /// The name of a file that is read.
    init(nameOf path: String) {
        guard !FilePlaces(input: path).places.isEmpty, path != "-" else { return }
        let (folder, name) = Self.parts(of: (try? OutputFile.followed(path)) ?? path)
        if let status = Self.status(folder) {
            places.insert(.entry(device: status.st_dev, folder: status.st_ino, name: FileName.cString(name)))
        }
    }

    func meet(_ other: FilePlaces) -> Bool {
        !places.isDisjoint(with: other.places) || !segments.isDisjoint(with: other.segments) || contains(other) || other.contains(self)
    }

    /// Whether a playlist's files may take one of the other's names.
    private func contains(_ other: FilePlaces) -> Bool { segments.contains { names in other.places.contains(where: names.contain) } }

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
    /// Whether two outputs get into each other's way: one file by two names, one's name for the other's unfinished file, or
    /// for a file of its playlist.
    public static func meets(_ a: String, _ b: String, options: SinkOptions = SinkOptions()) -> Bool {
        a == b || FilePlaces(output: a, options: options).meet(FilePlaces(output: b, options: options))
    }

    /// The name of the file that writing the output would spoil while it is read; nil where that is none.
    public static func overwritten(_ input: String, by output: String, options: SinkOptions = SinkOptions()) -> String? {
        let (read, written) = (FilePlaces(input: input), FilePlaces(output: output, options: options))
        guard read.meet(written) else { return FilePlaces(nameOf: input).meet(written) ? input : nil }
        let isPart = output != "-" && !read.meet(FilePlaces(input: output))
        return isPart ? output + ".part" : output == "-" ? "standard output" : output
    }

    /// The names of a playlist's files, for messages.
    package static func segmentWords(of playlist: String) -> String {
        let stem = SegmentFolder.stem(playlist)
        return "\(stem)00000.ts, \(stem)00000.m4s and so on, and \(SegmentFolder.initialName(stem))"
    }
}
