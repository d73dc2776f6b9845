package import CLibAV
package import LibAV
package import VAAPI
package import VideoBase

/// The input for creating a decoder: libavcodec's decoder, and the container's parameters of the stream.
@unsafe package struct DecoderStream {
    var codec: UnsafePointer<AVCodec>
    /// The container's parameters of the stream. They must be valid during the lifetime of the decoder.
    var parameters: UnsafePointer<AVCodecParameters>?
    var timeBase: Rational?

    package init(
        _ codec: UnsafePointer<AVCodec>, parameters: UnsafePointer<AVCodecParameters>?, timeBase: Rational?
    ) {
        unsafe self.codec = unsafe codec
        unsafe self.parameters = unsafe parameters
        unsafe self.timeBase = timeBase
    }
}

/// Decodes with libavcodec on a device. If the device fails, it is reinitialized once; if it fails again, decoding
/// falls back to software. One thread at a time.
///
/// After a failure, the packets since the second last key packet are decoded again. Pictures that were already returned
/// are not returned again. A device fault therefore costs time, but no picture.
@safe package final class ResilientDecoder: PictureDecoder {
    /// The device or the CPU, whichever decodes the pictures.
    package enum Backend: Sendable, Hashable {
        case device
        case software(why: String)
    }

    // SAFETY: `stream` is valid as `DecoderStream` requires; the table is static.
    private let stream: DecoderStream
    let av: UnsafePointer<VaencLibAV>
    private let options: VideoDecoder.Options
    private let renewed: () throws -> Display?
    package private(set) var device: DecodeDevice?
    private(set) var decoder: VideoDecoder
    package private(set) var backend: Backend
    /// The number of times that the device failed and another decoder, on the device or in software, replaced it.
    package private(set) var rebuilds = 0
    /// Whether damage must be reported for the picture that has it. In that case, only one thread decodes from the
    /// first fault on.
    private let reportsDamage: Bool
    /// Returns the error that ends the work; nil to continue. It is called while the decoder waits for a surface.
    private let end: () -> VaencError?
    private var isExact = false

    private var log = PacketLog()
    private var nextTag: Int64 = 0
    private var hasEnded = false
    /// The tags of pictures that were already returned, for the packets in the log.
    private var returnedTags: Set<Int64> = []
    /// Called when a device has failed. Returns the tags of pictures that were returned, are on that device, and must
    /// be returned again.
    var reclaimed: () -> Set<Int64> = { [] }
    /// Pictures that were decoded again and are returned next. `mustReportBroken` is whether the last packet is
    /// reported as damaged after them.
    private var ready: [(picture: DecodedPicture, isDamaged: Bool)] = []
    private var mustReportBroken = false
    private var current: DecodedPicture?
    private var isDamaged = false

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - stream: The codec and its parameters.
    ///   - device: The device that decodes; nil for software.
    ///   - why: The reason for decoding in software, if `device` is nil.
    ///   - options: The options of the decoder, except the device.
    ///   - reportsDamage: Whether a damaged packet is reported when it is sent, whatever the number of threads.
    ///   - end: Returns the error that ends the work; nil to continue. It is called while the decoder waits for a
    ///     surface.
    ///   - renewed: Returns a display that replaces a failed one; nil for none.
    /// - Throws: `badInput` if libavcodec rejects the stream.
    package init(
        _ stream: DecoderStream, on device: DecodeDevice?, why: String = "no device was requested",
        _ options: VideoDecoder.Options = VideoDecoder.Options(), reportsDamage: Bool = false,
        end: @escaping () -> VaencError? = { nil }, renewed: @escaping () throws -> Display? = { nil }
    ) throws {
        let av = unsafe try LibAV.load(.codec)
        unsafe self.stream = unsafe stream
        unsafe self.av = unsafe av
        (self.options, self.device, self.renewed) = (options, device, renewed)
        (self.reportsDamage, self.end) = (reportsDamage, end)
        backend = device == nil ? .software(why: why) : .device
        decoder = unsafe try Self.make(stream, options: options, device: device, av: av)
    }

    deinit { retire() }

    private static func make(
        _ stream: DecoderStream, options: VideoDecoder.Options, device: DecodeDevice?, av: UnsafePointer<VaencLibAV>
    ) throws -> VideoDecoder {
        var options = options
        if let device { unsafe options.device = (device.context, DecodeDevice.heldLimit) }
        return unsafe try VideoDecoder(
            stream.codec, parameters: stream.parameters, timeBase: stream.timeBase, options: options, av: av)
    }

    /// Releases the decoder. If its device hangs, the decoder is abandoned.
    private func retire() {
        guard let device else { return decoder.close() }
        nonisolated(unsafe) let old = decoder
        device.display.watch.release { unsafe old.close() }
        // The decoder is closed by now, or abandoned.
        unsafe old.abandon()
    }

    // MARK: PictureDecoder

    package var packet: UnsafeMutablePointer<AVPacket>? { unsafe decoder.packet }

    package var frame: UnsafeMutablePointer<AVFrame>? {
        // SAFETY: no code writes to a picture that was returned.
        if let current { return unsafe UnsafeMutablePointer(mutating: current.frame) }
        return unsafe decoder.frame
    }

    /// The tag of the picture in `frame`.
    var frameTag: Int64 {
        // SAFETY: the frame is valid until the next one is requested.
        unsafe frame.map { unsafe vaenc_tag($0) } ?? -1
    }

    package var frameIsDamaged: Bool { isDamaged || (current == nil && decoder.frameIsDamaged) }

    /// Blocks while returned pictures hold all surfaces of the device.
    ///
    /// - Throws: `usage` if no surface becomes free, or the error that ends the work. Nothing was done in that case.
    func waitForSurface() throws {
        if backend == .device { try device?.waitForSurface(end) }
    }

    package func send(end: Bool) throws -> Bool {
        if end {
            hasEnded = true
        } else if let packet = unsafe packet {
            try waitForSurface()
            log.append(unsafe try PacketCopy(of: packet, av), tag: nextTag)
            if let first = log.entries.first?.tag, returnedTags.count > 1024 {
                returnedTags = returnedTags.filter { $0 >= first }
            }
            decoder.tag(nextTag)
            nextTag += 1
        }
        do {
            if try take(end: end) { return true }
            return try decodeExactly() ?? false
        } catch {
            return try recover(from: error)
        }
    }

    package func receive() throws -> DecoderAnswer {
        while true {
            (current, isDamaged) = (nil, false)
            if !ready.isEmpty {
                let next = ready.removeFirst()
                (current, isDamaged) = (next.picture, next.isDamaged)
                returnedTags.insert(next.picture.tag)
                return .frame
            }
            if mustReportBroken {
                mustReportBroken = false
                return .broken
            }
            do {
                let answer = try answer()
                if answer == .frame {
                    isDamaged = try !settle()
                    if let frame = unsafe decoder.frame { returnedTags.insert(unsafe vaenc_tag(frame)) }
                }
                if answer == .broken, let isGood = try decodeExactly() {
                    mustReportBroken = !isGood
                    continue
                }
                return answer
            } catch {
                mustReportBroken = try !recover(from: error)
            }
        }
    }

    package func flush() {
        log.clear()
        (returnedTags, ready, current, mustReportBroken, hasEnded) = ([], [], nil, false, false)
        guard backend == .device, let device else { return decoder.flush() }
        nonisolated(unsafe) let decoder = decoder
        // If this call fails, the call with the next packet fails too and reports the error.
        try? device.perform("avcodec_flush_buffers") { unsafe decoder.flush() }
    }

    package func picture() throws -> DecodedPicture {
        if let current { return current }
        guard let device, unsafe decoder.frame?.pointee.format == AV_PIX_FMT_VAAPI.rawValue else {
            return try decoder.picture()
        }
        device.hold()
        return try decoder.picture(keptBy: device)
    }

    package func pictureInMemory() throws -> DecodedPicture {
        while true {
            let picture = try picture()
            guard let device, picture.surface != nil else { return picture }
            do {
                return try device.perform("av_hwframe_transfer_data") { try picture.downloaded() }
            } catch { try renew(picture.tag, after: error) }
        }
    }

    /// Decodes the last returned picture again.
    private func renew(_ tag: Int64, after fault: any Error) throws {
        returnedTags.remove(tag)
        _ = try recover(from: fault)
        guard let index = ready.firstIndex(where: { $0.picture.tag == tag }) else { throw fault }
        let again = ready.remove(at: index)
        (current, isDamaged) = (again.picture, again.isDamaged)
        returnedTags.insert(tag)
    }

    // MARK: Calls and faults

    /// Passes a packet or the end to the decoder. Returns false if the decoder reports a damaged stream.
    ///
    /// - Throws: The error of the device.
    private func take(end: Bool) throws -> Bool { try perform({ try $0.send(end: end) }) { $0 } }

    private func answer() throws -> DecoderAnswer { try perform({ try $0.receive() }) { $0 != .broken } }

    /// Runs a call of the decoder, on a device through its watchdog.
    ///
    /// - Throws: The error of the device.
    private func perform<R: Sendable>(_ body: @escaping @Sendable (VideoDecoder) throws -> R, isGood: (R) -> Bool) throws -> R {
        guard backend == .device, let device else { return try body(decoder) }
        // SAFETY: the caller waits while the body runs, or leaves the decoder behind.
        nonisolated(unsafe) let decoder = decoder
        let result = try device.perform("decoding") { unsafe try body(decoder) }
        let code = unsafe decoder.latestCode
        if isGood(result) || code == vaenc_averror_again() { return result }
        // libavcodec itself reports invalid data with this code; any other code comes from the device.
        if code == vaenc_averror_invalid() {
            if unsafe decoder.lacksMemory { throw VaencError.noMemory("to decode a picture") }
            return result
        }
        throw VaencError(
            .deviceFailed, "decoding failed on \(device.display.vendor) (\(unsafe LibAV.message(code, av)))")
    }

    /// Waits until the decoder's picture is complete on its device. Returns false if the device reports damage.
    private func settle() throws -> Bool {
        guard backend == .device, let device else { return true }
        guard let surface = try decoder.picture().surface else {
            backend = .software(why: "\(device.display.vendor) does not decode this stream (\(LibAV.takeLog() ?? "its profile or size"))")
            return true
        }
        let display = device.display
        let borrowed = Surface(borrowing: surface.identifier, of: display, size: surface.size, format: surface.format)
        do {
            try display.watch.run("vaSyncSurface", on: "a decoded picture", scale: .wait) {
                try borrowed.sync(timeoutNanoseconds: display.watch.limitNanoseconds)
            }
        } catch let error as VAError where error.status == .decodingError {
            // The reference driver decodes in this process, so `lacksMemory` covers it.
            if display.kind == .reference, decoder.lacksMemory { throw VaencError.noMemory("to decode a picture") }
            return false
        }
        return true
    }

    /// Decodes the log again with one thread, because the damaged picture cannot be identified with several threads.
    /// Returns whether the last packet is good; nil if nothing was decoded again, for example because one thread
    /// decodes already.
    private func decodeExactly() throws -> Bool? {
        guard reportsDamage, !isExact, backend != .device, options.threads != 1, !log.isBroken else { return nil }
        isExact = true
        retire()
        return try again()
    }

    /// Decodes the log again with another decoder: a new one on the device the first time, one in software the second
    /// time. Returns whether the last packet is good.
    ///
    /// - Throws: The fault, if decoding cannot continue.
    private func recover(from fault: any Error) throws -> Bool {
        var fault = fault
        while true {
            // A call that the device rejects while it decodes is a device failure, whatever its status means elsewhere.
            if let error = fault as? VAError { fault = error.endingSession() }
            if let error = fault as? any DescribedError, error.category != .deviceFailed { throw error }
            guard backend == .device, !log.isBroken else { throw fault }
            retire()
            rebuilds += 1
            device = rebuilds > 1 ? nil : try? renewed().map { try DecodeDevice($0) }
            if device == nil { backend = .software(why: "the device failed: \(fault)") }
            returnedTags.subtract(reclaimed())
            do { return try again() } catch { fault = error }
        }
    }

    private func again() throws -> Bool {
        var options = options
        if isExact { options.threads = 1 }
        // A picture that the device had returned must follow the same packet. This option prevents delays by threads.
        if rebuilds > 0, backend != .device { options.isRealTime = true }
        decoder = unsafe try Self.make(stream, options: options, device: device, av: av)
        // Pictures that were decoded again earlier, and could not be read, belong to the old decoder.
        (ready, current) = ([], nil)
        var isGood = true
        for entry in log.entries {
            if let packet = unsafe decoder.packet { try unsafe entry.packet.fill(packet) }
            decoder.tag(entry.tag)
            isGood = try take(end: false)
            try collect()
        }
        if hasEnded {
            _ = try take(end: true)
            try collect()
        }
        return isGood
    }

    /// Adds the pictures that the decoder returns, and that were not returned before, to `ready`.
    private func collect() throws {
        while true {
            switch try answer() {
            case .needsInput, .end: return
            case .broken: continue
            case .frame:
                let isWhole = try settle() && !decoder.frameIsDamaged
                guard let frame = unsafe decoder.frame, !returnedTags.contains(unsafe vaenc_tag(frame)) else {
                    continue
                }
                ready.append((try picture(), !isWhole))
            }
        }
    }
}
