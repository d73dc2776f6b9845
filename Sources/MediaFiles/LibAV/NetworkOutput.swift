import CLibAV
import Glibc
import LibAV
import Synchronization
import Threads
import VideoBase

/// The timeout of libavformat's calls that wait for a network. Any thread may read or change it.
final class NetworkTimeout: Sendable {
    private static let writing = 10.0
    private static let ending = 2.0

    /// The deadline in nanoseconds of the monotonic clock; 0 means none.
    private let deadline = Atomic<Int64>(0)
    private let isShort = Atomic(false)
    /// Returns whether the connection that is being opened was cancelled; nil once it is open.
    private let isCancelled = Mutex<(@Sendable () -> Bool)?>(nil)

    /// Sets `isCancelled` while a connection is being opened; nil once it is open.
    func connect(_ isCancelled: (@Sendable () -> Bool)?) { self.isCancelled.withLock { $0 = isCancelled } }

    /// Starts the timeout of a call: ten seconds, or two after `shorten`.
    func begin() {
        let limit = isShort.load(ordering: .relaxed) ? Self.ending : Self.writing
        deadline.store(MonotonicClock.nanoseconds + Int64(limit * 1e9), ordering: .relaxed)
    }

    /// Shortens the timeout to two seconds, for the running call and all later ones.
    func shorten() {
        if isShort.exchange(true, ordering: .relaxed) { return }
        deadline.store(MonotonicClock.nanoseconds + Int64(Self.ending * 1e9), ordering: .relaxed)
    }

    var isOver: Bool {
        let limit = deadline.load(ordering: .relaxed)
        if limit != 0, MonotonicClock.nanoseconds > limit { return true }
        return isCancelled.withLock { $0?() } ?? false
    }
}

/// A live connection through one of libavformat's protocols (RTMP, SRT).
@safe final class NetworkOutput: SinkDestination {
    let name: String
    var error: (any Error)? { nil }
    private let timeout = NetworkTimeout()
    var networkTimeout: NetworkTimeout? { timeout }
    // SAFETY: created in `init` and closed once, by `commit`, `cancel` or `deinit`. The interrupt callback refers to
    // `timeout`, which lives as long as this object, and the connection is closed before.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVIOContext>?
    private var sent = 0
    /// The socket of the connection; nil if the protocol does not use TCP, or if the socket could not be identified.
    private var socket: ConnectionSocket?

    /// Connects. Blocks for up to ten seconds.
    /// - Parameter isCancelled: Called while it waits; returns whether to stop.
    /// - Throws: `inputOutput` if the connection fails; `interrupted` if it was cancelled.
    init(_ url: String, isCancelled: @escaping @Sendable () -> Bool = { false }) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        name = url
        unsafe context = nil
        _ = LibAV.takeLog()
        timeout.begin()
        timeout.connect(isCancelled)
        defer { timeout.connect(nil) }
        var callback = unsafe AVIOInterruptCB(
            callback: { opaque in
                guard let opaque = unsafe opaque else { return 0 }
                return unsafe Unmanaged<NetworkTimeout>.fromOpaque(opaque).takeUnretainedValue().isOver ? 1 : 0
            }, opaque: Unmanaged.passUnretained(timeout).toOpaque())
        var dictionary: OpaquePointer?
        // At the end SRT discards what has not arrived, unless this option makes it wait.
        defer { unsafe av.pointee.av_dict_free!(&dictionary) }
        guard unsafe av.pointee.av_dict_set!(&dictionary, "linger", "2", 0) >= 0 else { throw VaencError.noMemory("for \(url)") }
        let earlier = ConnectionSocket.openSockets
        let code = unsafe av.pointee.avio_open2!(&context, FileName.cString(url), AVIO_FLAG_WRITE, &callback, &dictionary)
        if code < 0 {
            let words = LibAV.takeLog()
            if isCancelled() { throw VaencError(.interrupted, "interrupted while connecting to \(url)") }
            throw VaencError(
                .inputOutput, "cannot connect to \(url) (\(Self.words(code, words, isLate: timeout.isOver)))",
                remedy: "check the address, and check that a server listens there")
        }
        socket = ConnectionSocket(openedSince: earlier)
    }

    private static func words(_ code: Int32, _ logged: String?, isLate: Bool) -> String {
        if isLate { return "no answer in time" }
        let number = vaenc_errno_of(code)
        if number != 0, number != EIO { return SystemError.text(number) }
        return logged ?? SystemError.text(EIO)
    }

    deinit { cancel() }

    var isImmediate: Bool { true }
    var isSeekable: Bool { false }
    var bytesWritten: Int { unsafe context.map { unsafe Int($0.pointee.bytes_written) } ?? sent }

    func attach(to muxer: UnsafeMutablePointer<AVFormatContext>) {
        unsafe muxer.pointee.pb = context
        unsafe muxer.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }

    func detach(from muxer: UnsafeMutablePointer<AVFormatContext>) { unsafe muxer.pointee.pb = nil }

    func willWrite() { timeout.begin() }
    func flush() { unsafe av.pointee.avio_flush!(context) }

    func failure(_ code: Int32, _ words: String) -> VaencError {
        VaencError(
            .inputOutput, "the connection to \(name) was lost (\(Self.words(code, words, isLate: timeout.isOver)))",
            remedy: "check the server's messages, and start again")
    }

    func commit() throws {
        timeout.begin()
        sent = bytesWritten
        let code = unsafe context.map { unsafe $0.pointee.error } ?? 0
        func close() -> Int32 { unsafe av.pointee.avio_closep!(&context) }
        let (closed, isComplete) = socket?.finish(timeout, close: close) ?? (close(), true)
        if code < 0 || closed < 0 { throw failure(min(code, closed), LibAV.takeLog() ?? "closing failed") }
        if !isComplete {
            throw VaencError(
                .inputOutput, "the end of the stream did not reach \(name): the server does not read", remedy: "check the server's messages")
        }
    }

    func cancel() {
        timeout.shorten()
        if unsafe context != nil { _ = unsafe av.pointee.avio_closep!(&context) }
    }
}
