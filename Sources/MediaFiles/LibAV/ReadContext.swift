import CLibAV
import Glibc
import LibAV

/// An AVIOContext that reads a `ByteReader`, so that errors keep their errno and name and `cancel` reaches a read.
@safe final class ReadContext {
    /// The error behind a failed libav call, where reading failed.
    private(set) var error: (any Error)?
    private let reader: ByteReader
    // SAFETY: made with an unretained reference to this object, which frees it in deinit.
    private let av: UnsafePointer<VaencLibAV>
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    init?(_ reader: ByteReader, _ av: UnsafePointer<VaencLibAV>) {
        self.reader = reader
        unsafe self.av = unsafe av
        unsafe context = nil
        let opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe context = vaenc_avio_reader(av, 1 << 16, opaque, readBytes, reader.isSeekable ? seekTo : nil)
        if unsafe context == nil { return nil }
    }

    /// The whole file was read.
    var isAtEnd: Bool { reader.length.map { reader.position >= $0 } ?? false }

    deinit { unsafe vaenc_avio_free(av, context) }

    fileprivate func read(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        do {
            var vectors = unsafe [iovec(iov_base: bytes, iov_len: Int(count))]
            let done = unsafe try reader.read(into: &vectors, partial: true)
            return done > 0 ? Int32(done) : vaenc_averror_eof()
        } catch {
            self.error = error
            return vaenc_averror_exit()
        }
    }

    fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        guard let length = reader.length else { return Int64(vaenc_averror(ESPIPE)) }
        let target: Int
        switch whence & ~vaenc_seek_force() {
        case vaenc_seek_size(): return Int64(length)
        case SEEK_SET: target = Int(offset)
        case SEEK_CUR: target = reader.position + Int(offset)
        case SEEK_END: target = length + Int(offset)
        default: return Int64(vaenc_averror(EINVAL))
        }
        if target < 0 { return Int64(vaenc_averror(EINVAL)) }
        reader.seek(to: target)
        return Int64(target)
    }
}

// SAFETY: `opaque` is the ReadContext that made the AVIOContext and outlives it; libav lends `count` writable bytes.
private func readBytes(_ opaque: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32)
    -> Int32
{
    guard let opaque = unsafe opaque else { return vaenc_averror_exit() }
    return unsafe Unmanaged<ReadContext>.fromOpaque(opaque).takeUnretainedValue().read(bytes, count)
}

private func seekTo(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let opaque = unsafe opaque else { return Int64(vaenc_averror_exit()) }
    return unsafe Unmanaged<ReadContext>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}
