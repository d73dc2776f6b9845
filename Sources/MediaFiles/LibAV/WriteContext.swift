import CLibAV
import Glibc
import LibAV
import NALUnits

/// An AVIOContext that writes an `OutputFile`, so that errors keep their errno and file name.
@safe final class WriteContext: SinkDestination {
    let file: OutputFile
    /// The file's error that made a libav call fail; nil if writing did not fail.
    private(set) var error: (any Error)?
    // SAFETY: created with an unretained reference to this object, which frees it in `deinit`.
    private let av: UnsafePointer<VaencLibAV>
    private(set) var context: UnsafeMutablePointer<AVIOContext>?
    /// Converts the Annex B stream that libavformat writes to a length-prefixed stream.
    private var converter: StreamConverter?

    init?(_ file: OutputFile, _ av: UnsafePointer<VaencLibAV>, lengthPrefixed: Bool = false) {
        self.file = file
        converter = lengthPrefixed ? StreamConverter(from: .annexB, to: .lengthPrefixed(.four)) : nil
        unsafe self.av = unsafe av
        unsafe context = nil
        let opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe context = vaenc_avio_writer(av, Int32(OutputFile.holdLimit), opaque, writeBytes, file.isSeekable ? seekTo : nil)
        guard let context = unsafe context else { return nil }
        // Without a copy into libavformat's buffer: `OutputFile` holds back small writes.
        if isSeekable, !isImmediate { unsafe context.pointee.direct = 1 }
    }

    deinit { unsafe vaenc_avio_free(av, context) }

    var name: String { file.name }
    var isImmediate: Bool { file.isImmediate }
    var isSeekable: Bool { file.isSeekable && converter == nil }
    var bytesWritten: Int { file.bytesWritten }

    func commit() throws {
        var rest: [UInt8] = []
        try converter?.finish(to: &rest)
        try file.write(rest.span)
        try file.commit()
    }

    func cancel() { file.cancel() }

    func attach(to muxer: UnsafeMutablePointer<AVFormatContext>) {
        unsafe muxer.pointee.pb = context
        unsafe muxer.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }

    func detach(from muxer: UnsafeMutablePointer<AVFormatContext>) { unsafe muxer.pointee.pb = nil }

    func flush() { unsafe av.pointee.avio_flush!(context) }

    fileprivate func write(_ bytes: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
        if error != nil { return vaenc_averror(EIO) }
        do {
            let written = unsafe UnsafeBufferPointer(start: bytes, count: Int(count))
            if converter == nil {
                try file.write(unsafe written.span)
            } else {
                var converted: [UInt8] = []
                unsafe try converter?.append(written, to: &converted)
                try file.write(converted.span)
            }
            return count
        } catch {
            self.error = error
            return vaenc_averror(EIO)
        }
    }

    fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        do {
            let whence = whence & ~vaenc_seek_force()
            if whence == vaenc_seek_size() { return Int64(try file.length()) }
            return Int64(try file.seek(to: Int(offset), whence: whence))
        } catch {
            self.error = error
            return Int64(vaenc_averror(EIO))
        }
    }
}

// SAFETY: `opaque` is the WriteContext that created the AVIOContext and outlives it. libav provides `count` bytes.
private func writeBytes(_ opaque: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>, _ count: Int32) -> Int32 {
    guard let opaque = unsafe opaque else { return vaenc_averror(EIO) }
    return unsafe Unmanaged<WriteContext>.fromOpaque(opaque).takeUnretainedValue().write(bytes, count)
}

private func seekTo(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let opaque = unsafe opaque else { return Int64(vaenc_averror(EIO)) }
    return unsafe Unmanaged<WriteContext>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}
