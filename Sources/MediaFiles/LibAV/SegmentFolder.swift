import CLibAV
import Glibc
import LibAV
import VideoBase

/// The playlist and segments of HLS, written in place. libavformat's muxer asks for each file; they are opened here, so that
/// a full disk has its errno and its name.
@safe final class SegmentFolder: SinkDestination {
    let name: String
    private(set) var error: (any Error)?
    // SAFETY: libavformat holds the contexts from `open` to `close`, all while the muxer lives, and this object longer.
    private let av: UnsafePointer<VaencLibAV>
    /// By the addresses of their contexts.
    private var files: [UInt: WriteContext] = [:]
    private var closedBytes = 0

    /// - Throws: `cannotCreate` where the playlist exists (without `overwrite`) or its folder does not.
    init(playlist: String, overwrite: Bool) throws {
        unsafe av = try LibAV.load([.codec, .format])
        name = playlist
        // The playlist is begun at once: whether it can be is known before the first picture.
        let file = try OutputFile(inPlace: playlist, overwrite: overwrite)
        try file.commit()
    }

    var isImmediate: Bool { true }
    var isSeekable: Bool { false }
    var bytesWritten: Int { closedBytes + files.values.reduce(0) { $0 + $1.file.bytesWritten } }

    func attach(to muxer: UnsafeMutablePointer<AVFormatContext>) {
        unsafe muxer.pointee.opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe muxer.pointee.io_open = { muxer, context, url, flags, _ in
            let write: Int32 = 2
            guard let opaque = unsafe muxer?.pointee.opaque, let url = unsafe url, let context = unsafe context,
                flags & write != 0
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
        do {
            let writer = unsafe WriteContext(try OutputFile(inPlace: path, overwrite: true), av)
            guard let writer, let made = unsafe writer.context else { return vaenc_averror(ENOMEM) }
            files[UInt(bitPattern: made)] = writer
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
            closedBytes += writer.file.bytesWritten
            try writer.file.commit()
            return 0
        } catch {
            self.error = self.error ?? error
            return vaenc_averror(EIO)
        }
    }

    func flush() {}

    func commit() throws {
        if let error { throw error }
    }

    /// Segments and playlist stay as they are, for they may be read already; a playlist without segments is removed.
    func cancel() {
        // SAFETY: unlink(2) reads the string during the call.
        if closedBytes == 0, files.isEmpty { _ = unsafe unlink(FileName.cString(name)) }
    }

    /// What segments are called: beside the playlist, by its name. `ending` is theirs.
    func pattern(_ ending: String) -> String {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        return name[..<dot].replacing("%", with: "%%") + "%05d." + ending
    }

    /// The name of the file that fragmented segments begin with, without its folder.
    var initialName: String {
        let file = name.split(separator: "/").last.map(String.init) ?? name
        return (file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file) + "-init.mp4"
    }
}
