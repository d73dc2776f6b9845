import CLibAV
import Glibc
import LibAV
import NALUnits

/// An AVIOContext that reads a `ByteReader`, so that errors keep their errno and file name, and `cancel` interrupts a
/// read.
@safe final class ReadContext {
    /// The reader's error that made a libav call fail; nil if reading did not fail.
    private(set) var error: (any Error)?
    private let reader: ByteReader
    // SAFETY: created with an unretained reference to this object, which frees it in `deinit`.
    private let av: UnsafePointer<VaencLibAV>
    private(set) var context: UnsafeMutablePointer<AVIOContext>?
    /// Converts length-prefixed input to start codes, which libavformat can read.
    private var converter: StreamConverter?
    /// Converted bytes. Those from `consumed` on are not read yet.
    private var converted: [UInt8] = []
    private var consumed = 0
    /// The reason why the input is not a stream of NAL units from some offset on. For libavformat the input ends there.
    private(set) var fault: MalformedStream?

    /// The bytes of an input that cannot seek.
    private var piped = PipedBytes()
    /// The Matroska blocks before 0. In a pipe they are found while it is read.
    var blocksBeforeZero = NegativeTimeBlocks()
    /// The continuity counters of an MPEG-TS input; nil for other inputs.
    private var counters: ContinuityCounters? = ContinuityCounters()
    /// Returns whether at the first jump of a PID's continuity counter from an offset on the counters restart, and nothing
    /// is lost.
    func isRestart(pid: Int, from offset: Int) -> Bool { counters?.isRestart(pid: pid, from: offset) ?? false }
    /// Returns whether the continuity counter of a PID jumps after the packet at one offset, up to that at another, where
    /// the times jump too. These jumps no longer count as losses.
    func takeJumps(pid: Int, from offset: Int, to end: Int) -> Bool { counters?.removeJumps(pid: pid, from: offset, to: end) ?? false }
    /// Returns whether only whole units are missing at the first jump of a PID's continuity counter from an offset on.
    func isBetweenUnits(pid: Int, from offset: Int) -> Bool { counters?.isBetweenUnits(pid: pid, from: offset) ?? false }
    /// Returns the number of gaps in the packets of some PIDs, apart from restarts of the counters.
    func losses(of pids: Set<Int>) -> Int { counters?.losses(of: pids) ?? 0 }
    /// Stops following the continuity counters. Call it if the input is not MPEG-TS.
    func ignoreCounters() { counters = nil }
    /// Whether an MPEG-TS stream from a pipe ended inside a packet.
    var isCutTransportStream: Bool { !reader.isSeekable && piped.isCut }
    /// Whether the input is a pipe, instead of which the user could name a file.
    var isPipe: Bool { !reader.isSeekable }

    /// Creates the context; nil if there is no memory.
    ///
    /// - Parameter lengths: The length size of a length-prefixed stream, which is read once from front to back; nil for
    ///   other inputs.
    init?(_ reader: ByteReader, _ av: UnsafePointer<VaencLibAV>, lengths: LengthSize? = nil) {
        self.reader = reader
        converter = lengths.map { StreamConverter(from: .lengthPrefixed($0), to: .annexB) }
        unsafe self.av = unsafe av
        unsafe context = nil
        let opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe context = vaenc_avio_reader(av, 1 << 16, opaque, readBytes, reader.isSeekable && lengths == nil ? seekTo : nil)
        if unsafe context == nil { return nil }
    }

    /// Whether the whole file was read.
    var isAtEnd: Bool { reader.length.map { reader.position >= $0 } ?? false }

    deinit { unsafe vaenc_avio_free(av, context) }

    fileprivate func read(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        do {
            if converter != nil { return unsafe try readConverted(bytes, count) }
            var vectors = unsafe [iovec(iov_base: bytes, iov_len: Int(count))]
            let done = unsafe try reader.read(into: &vectors, partial: true)
            if counters != nil {
                unsafe counters?.append(UnsafeBufferPointer(start: bytes, count: done).span, at: reader.position - done)
            }
            if !reader.isSeekable {
                unsafe piped.append(UnsafeBufferPointer(start: bytes, count: done).span)
                unsafe blocksBeforeZero.append(UnsafeBufferPointer(start: bytes, count: done).span)
            }
            return done > 0 ? Int32(done) : vaenc_averror_eof()
        } catch {
            self.error = error
            return vaenc_averror_exit()
        }
    }

    private func readConverted(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) throws -> Int32 {
        while consumed == converted.count, converter != nil, fault == nil {
            converted.removeAll(keepingCapacity: true)
            consumed = 0
            let piece = try reader.readSome(1 << 16)
            do {
                if piece.isEmpty {
                    try converter?.finish(to: &converted)
                    break
                }
                try converter?.append(piece, to: &converted)
            } catch let error as MalformedStream { fault = error }
        }
        let part = converted[consumed...].prefix(Int(count))
        if part.isEmpty { return vaenc_averror_eof() }
        // SAFETY: libav provides `count` writable bytes.
        unsafe UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)).copyBytes(from: part)
        consumed += part.count
        return Int32(part.count)
    }

    fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        guard let length = reader.length else { return Int64(vaenc_averror(ESPIPE)) }
        let from: Int
        switch whence & ~vaenc_seek_force() {
        case vaenc_seek_size(): return Int64(length)
        case SEEK_SET: from = 0
        case SEEK_CUR: from = reader.position
        case SEEK_END: from = length
        default: return Int64(vaenc_averror(EINVAL))
        }
        // Offsets come from the file, and may overflow.
        let (target, isOutside) = from.addingReportingOverflow(Int(offset))
        if isOutside || target < 0 { return Int64(vaenc_averror(EINVAL)) }
        reader.seek(to: target)
        return Int64(target)
    }
}

// SAFETY: `opaque` is the ReadContext that created the AVIOContext and outlives it. libav provides `count` writable
// bytes.
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
