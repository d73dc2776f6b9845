import CLibAV
import Glibc
import LibAV
import VideoBase

/// The playlist and segments of HLS, written in place. libavformat's muxer requests each file. The files are opened
/// here, so that an error such as a full disk keeps its errno and file name.
@safe final class SegmentFolder: SinkDestination {
    let name: String
    private(set) var error: (any Error)?
    // SAFETY: libavformat holds the contexts from `open` to `close`, while the muxer lives. This object outlives the
    // muxer.
    private let av: UnsafePointer<VaencLibAV>
    /// The open files, by the addresses of their contexts.
    private var files: [UInt: WriteContext] = [:]
    /// The sizes of the files that were closed, by their names.
    private var closedBytes: [String: Int] = [:]
    /// The final names of the files that were begun, except the playlist.
    private var begun: Set<String> = []
    private var hasPlaylist = false
    /// The unfinished names of complete files to which libavformat gives their final names next.
    private var unnamed: Set<String> = []
    private var isCommitted = false
    private let overwrite: Bool
    /// An empty file that reserves the playlist's name until the playlist exists.
    private let claim: OutputFile

    /// Checks the playlist's name, and reserves it.
    /// - Throws: `cannotCreate` if the playlist exists (without `overwrite`), if it is not a regular file, or if its
    ///   folder does not exist; `usage` if its name cannot be used in a playlist.
    init(playlist: String, overwrite: Bool) throws {
        unsafe av = try LibAV.load([.codec, .format])
        name = playlist
        self.overwrite = overwrite
        try Self.checkName(playlist)
        try Self.checkKind(playlist)
        // This detects before the first picture whether the playlist can be created. Without a segment there is no
        // playlist.
        claim = try OutputFile(path: playlist, overwrite: overwrite)
    }

    /// Checks whether a playlist's name can be part of segment names.
    ///
    /// A playlist lists each segment on its own line (RFC 8216 4.1), and the initialization file in quotation marks
    /// (4.3.2.5). A line that begins with # is a comment. The names are URIs, which libavformat writes unescaped: the
    /// part before a colon is a scheme, the part after ? or # is not in the path, and the part after % is an escaped
    /// byte (RFC 3986).
    private static func checkName(_ path: String) throws {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let marks: [(mark: Character, why: String)] = [
            (":", "the text before the colon would mean a URL scheme"),
            ("%", "the text after % would mean an escaped character"),
            ("?", "the text after the question mark would mean a query"),
            ("#", "the text after # would mean a comment or a fragment"),
        ]
        let isUnfit = file.unicodeScalars.contains { $0.value < 32 || $0.value == 127 || $0 == "\"" }
        let unfit = isUnfit ? "it contains a quotation mark, a line break or another control character" : nil
        if let why = unfit ?? marks.first(where: { file.contains($0.mark) })?.why {
            throw VaencError(
                .usage, "the name \(path) cannot be used in a playlist: \(why)",
                remedy: "choose another name for the playlist")
        }
        // libavformat has no escape for this.
        if let number = numberPlaceholder(in: path) {
            throw VaencError(
                .usage,
                "the folder name of \(path) contains \(number), which libavformat would replace by the segment number",
                remedy: "choose another folder for the playlist")
        }
    }

    /// Returns a number placeholder, such as `%d` or `%05d`, in a name; nil if there is none.
    private static func numberPlaceholder(in path: String) -> Substring? {
        var rest = path[...]
        while let mark = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: mark)...]
            let digits = rest.prefix { ("0"..."9").contains($0) }
            if rest[digits.endIndex...].first == "d" { return path[mark...digits.endIndex] }
        }
        return nil
    }

    /// Checks that no device, pipe or folder has the name of a file: it would be removed, or would prevent the
    /// creation.
    private static func checkKind(_ path: String) throws {
        var status = stat()
        // SAFETY: lstat reads the string and fills the structure.
        guard unsafe lstat(FileName.cString(path), &status) == 0 else { return }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFREG { return }
        // A link to a regular file is replaced by a file. The link's target is kept.
        if kind == S_IFLNK {
            // SAFETY: stat reads the string and fills the structure. A dangling link is replaced too.
            if unsafe stat(FileName.cString(path), &status) != 0 || status.st_mode & S_IFMT == S_IFREG { return }
        }
        throw VaencError(
            .cannotCreate, "\(path) is not a regular file, but HLS writes a playlist and segments",
            remedy: "name a file in a separate folder")
    }

    var isImmediate: Bool { true }
    var isSeekable: Bool { false }
    var bytesWritten: Int { closedBytes.values.reduce(0, +) + files.values.reduce(0) { $0 + $1.file.bytesWritten } }

    func attach(to muxer: UnsafeMutablePointer<AVFormatContext>) {
        unsafe muxer.pointee.opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe muxer.pointee.io_open = { muxer, context, url, flags, _ in
            guard let opaque = unsafe muxer?.pointee.opaque, let url = unsafe url, let context = unsafe context,
                flags & AVIO_FLAG_WRITE != 0
            else { return vaenc_averror(EINVAL) }
            let folder = unsafe Unmanaged<SegmentFolder>.fromOpaque(opaque).takeUnretainedValue()
            return unsafe folder.open(FileName.string(Array(UnsafeRawBufferPointer(start: url, count: strlen(url)))), context)
        }
        unsafe muxer.pointee.io_close2 = { muxer, context in
            guard let opaque = unsafe muxer?.pointee.opaque, let context = unsafe context else { return 0 }
            return unsafe Unmanaged<SegmentFolder>.fromOpaque(opaque).takeUnretainedValue().close(context)
        }
    }

    func detach(from muxer: UnsafeMutablePointer<AVFormatContext>) {}

    private func open(_ path: String, _ context: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>) -> Int32 {
        // After an error no further file is begun: the playlist must not list a segment that could not be written.
        if error != nil { return vaenc_averror(EIO) }
        do {
            try finishNames()
            let final = Self.finalName(path)
            let isOwn = final == name || begun.contains(final)
            if !overwrite, !isOwn, unsafe access(FileName.cString(final), F_OK) == 0 { throw SystemError.creation(EEXIST, final) }
            let isFinal = final == path
            for name in isFinal ? [path] : [path, final] { try Self.checkKind(name) }
            let writer = unsafe WriteContext(try OutputFile(inPlace: path, mayReplace: overwrite || isOwn || !isFinal), av)
            guard let writer, let made = unsafe writer.context else { return vaenc_averror(ENOMEM) }
            files[UInt(bitPattern: made)] = writer
            if final != name { begun.insert(final) }
            unsafe context.pointee = unsafe made
            return 0
        } catch {
            self.error = self.error ?? error
            return vaenc_averror(EIO)
        }
    }

    private func close(_ context: UnsafeMutablePointer<AVIOContext>) -> Int32 {
        guard let writer = files.removeValue(forKey: UInt(bitPattern: context)) else { return 0 }
        writer.flush()
        do {
            if let error = writer.error { throw error }
            closedBytes[Self.finalName(writer.file.path)] = writer.file.bytesWritten
            try writer.file.commit()
            if writer.file.path.hasSuffix(Self.unfinished) { unnamed.insert(writer.file.path) }
            if Self.finalName(writer.file.path) == name {
                hasPlaylist = true
                claim.cancel()
            }
            return 0
        } catch {
            // libavformat would rename the file next, and an older playlist is better than an incomplete one.
            Self.remove(writer.file.path)
            self.error = self.error ?? error
            return vaenc_averror(EIO)
        }
    }

    func flush() {}

    /// Renames the finished files. libavformat does not report that it could not rename a file.
    private func finishNames() throws {
        while let path = unnamed.popFirst() {
            let final = Self.finalName(path)
            // SAFETY: rename(2) reads the strings during the call.
            if unsafe rename(FileName.cString(path), FileName.cString(final)) != 0, errno != ENOENT {
                throw SystemError.creation(errno, final)
            }
        }
    }

    func commit() throws {
        if let error { throw error }
        try finishNames()
        claim.cancel()
        isCommitted = true
    }

    /// Keeps the playlist and the segments that it lists, because players may be reading them, and removes all other
    /// files.
    func cancel() {
        if isCommitted { return }
        for file in files.values { Self.remove(file.file.path) }
        let named = hasPlaylist ? Self.named(in: name) : []
        claim.cancel()
        for path in begun where !named.contains(path.split(separator: "/").last.map(String.init) ?? path) {
            Self.remove(path)
            Self.remove(path + Self.unfinished)
        }
        begun = []
    }

    /// The extension of unfinished files, which libavformat renames when they are complete.
    static let unfinished = ".tmp"
    private static func finalName(_ path: String) -> String {
        path.hasSuffix(unfinished) ? String(path.dropLast(unfinished.count)) : path
    }

    // SAFETY: unlink(2) reads the string during the call.
    private static func remove(_ path: String) { _ = unsafe unlink(FileName.cString(path)) }

    /// Returns the file names that a playlist lists (RFC 8216 4.1 and 4.3.2.5).
    private static func named(in playlist: String) -> Set<String> {
        guard let bytes = try? ByteReader(path: playlist).read(1 << 26) else { return [] }
        return Set(
            FileName.string(bytes).split(whereSeparator: \.isNewline).compactMap { line in
                if !line.hasPrefix("#") { return String(line) }
                guard let start = line.firstRange(of: "URI=\"")?.upperBound else { return nil }
                return String(line[start...].prefix { $0 != "\"" })
            })
    }

    /// Returns the pattern of segment names, which begin with the playlist's name. libavformat keeps a % in a folder's
    /// name unchanged.
    ///
    /// - Parameter ending: The extension of the segments.
    func pattern(_ ending: String) -> String { Self.stem(name) + "%05d." + ending }

    /// The extensions of segments, also with the extension of unfinished files.
    static let endings = ["ts", "m4s"].flatMap { [$0, $0 + unfinished] }

    /// Returns a playlist's name without its extension. The names of its files begin with this.
    static func stem(_ playlist: String) -> String {
        let file = playlist.lastIndex(of: "/").map(playlist.index(after:)) ?? playlist.startIndex
        return String(playlist[..<(playlist[file...].lastIndex(of: ".") ?? playlist.endIndex)])
    }

    /// The name, without the folder, of the initialization file of fragmented segments.
    var initialName: String { Self.initialName(Self.stem(name.split(separator: "/").last.map(String.init) ?? name)) }

    static func initialName(_ stem: String) -> String { stem + "-init.mp4" }
}
