package import CLibAV
package import LibAV
package import VAAPI
package import VideoBase

/// What a decoder is made for: libavcodec's decoder, and what a container says of the stream.
@unsafe package struct DecoderStream {
    var codec: UnsafePointer<AVCodec>
    /// Valid as long as the decoder.
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

/// libavcodec on a device, reinitialized once if that fails, and in software when it fails again. One thread at a time.
///
/// It decodes again the packets since the last key packet but one; pictures that were given are not given again. So
/// a fault of the device costs time, and no picture.
@safe package final class ResilientDecoder: PictureDecoder {
    /// Where pictures are decoded.
    package enum Backend: Sendable, Hashable {
        case device
        case software(why: String)
    }

    // SAFETY: as DecoderStream says; the table is static.
    private let stream: DecoderStream
    let av: UnsafePointer<VaencLibAV>
    private let options: VideoDecoder.Options
    private let renewed: () throws -> Display?
    package private(set) var device: DecodeDevice?
    private(set) var decoder: VideoDecoder
    package private(set) var way: Backend
    /// Times that the device was given up.
    package private(set) var rebuilds = 0
    /// What is broken is to be known by picture: one thread decodes, from the first fault on.
    private let tellsDamage: Bool
    /// What ends the work, asked while it waits for a surface.
    private let end: () -> VaencError?
    private var isExact = false

    private var log = PacketLog()
    private var nextTag: Int64 = 0
    private var hasEnded = false
    /// Given already, of the packets in the log.
    private var given: Set<Int64> = []
    /// Called when a device has failed. The tags of pictures that were given, lie on that device and are to be given again.
    var reclaimed: () -> Set<Int64> = { [] }
    /// Decoded again, to be given; then that the latest packet is broken.
    private var ready: [(picture: DecodedPicture, isDamaged: Bool)] = []
    private var owesBroken = false
    private var current: DecodedPicture?
    private var isDamaged = false

    /// - Parameters:
    ///   - device: nil to decode in software, for the reason `why`.
    ///   - options: all but the device.
    ///   - tellsDamage: a broken packet is told when it is sent, whatever the number of threads.
    ///   - end: what ends the work, asked while it waits for a surface.
    ///   - renewed: a display in the place of one that failed; nil for none.
    /// - Throws: `badInput` where libavcodec does not take the stream.
    package init(
        _ stream: DecoderStream, on device: DecodeDevice?, why: String = "no device was asked for",
        _ options: VideoDecoder.Options = VideoDecoder.Options(), tellsDamage: Bool = false,
        end: @escaping () -> VaencError? = { nil }, renewed: @escaping () throws -> Display? = { nil }
    ) throws {
        let av = unsafe try LibAV.load(.codec)
        unsafe self.stream = unsafe stream
        unsafe self.av = unsafe av
        (self.options, self.device, self.renewed, self.tellsDamage, self.end) = (options, device, renewed, tellsDamage, end)
        way = device == nil ? .software(why: why) : .device
        decoder = unsafe try Self.make(stream, options, device, av)
    }

    deinit { retire() }

    private static func make(
        _ stream: DecoderStream, _ options: VideoDecoder.Options, _ device: DecodeDevice?, _ av: UnsafePointer<VaencLibAV>
    ) throws -> VideoDecoder {
        var options = options
        if let device { unsafe options.device = (device.context, DecodeDevice.heldLimit) }
        return unsafe try VideoDecoder(
            stream.codec, parameters: stream.parameters, timeBase: stream.timeBase, options, av)
    }

    /// Lets the decoder go; one whose device hangs is left where it is.
    private func retire() {
        guard let device else { return decoder.close() }
        nonisolated(unsafe) let old = decoder
        device.display.watch.release { unsafe old.close() }
        // Closed by now, or left behind.
        unsafe old.abandon()
    }

    // MARK: What decoders do

    package var packet: UnsafeMutablePointer<AVPacket>? { unsafe decoder.packet }

    package var frame: UnsafeMutablePointer<AVFrame>? {
        // SAFETY: nobody writes to a picture that was given.
        if let current { return unsafe UnsafeMutablePointer(mutating: current.frame) }
        return unsafe decoder.frame
    }

    /// The tag of the picture in `frame`.
    var frameTag: Int64 {
        // SAFETY: the frame is there until the next is asked for.
        unsafe frame.map { unsafe vaenc_tag($0) } ?? -1
    }

    package var frameIsDamaged: Bool { isDamaged || (current == nil && decoder.frameIsDamaged) }

    /// Blocks while pictures that were given keep all the device's surfaces.
    ///
    /// - Throws: `usage` where none comes free, or what ends the work; then nothing was done.
    func waitForSurface() throws {
        if way == .device { try device?.waitForSurface(end) }
    }

    package func send(end: Bool) throws -> Bool {
        if end {
            hasEnded = true
        } else if let packet = unsafe packet {
            try waitForSurface()
            log.append(unsafe try PacketCopy(of: packet, av), tag: nextTag)
            if let first = log.entries.first?.tag, given.count > 1024 { given = given.filter { $0 >= first } }
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
                given.insert(next.picture.tag)
                return .frame
            }
            if owesBroken {
                owesBroken = false
                return .broken
            }
            do {
                let answer = try answer()
                if answer == .frame {
                    isDamaged = try !settle()
                    if let frame = unsafe decoder.frame { given.insert(unsafe vaenc_tag(frame)) }
                }
                if answer == .broken, let isGood = try decodeExactly() {
                    owesBroken = !isGood
                    continue
                }
                return answer
            } catch {
                owesBroken = try !recover(from: error)
            }
        }
    }

    package func flush() {
        log.clear()
        (given, ready, current, owesBroken, hasEnded) = ([], [], nil, false, false)
        guard way == .device, let device else { return decoder.flush() }
        nonisolated(unsafe) let decoder = decoder
        // What goes wrong here goes wrong with the next packet too.
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

    /// Decodes the picture that was given last again.
    private func renew(_ tag: Int64, after fault: any Error) throws {
        given.remove(tag)
        _ = try recover(from: fault)
        guard let index = ready.firstIndex(where: { $0.picture.tag == tag }) else { throw fault }
        let again = ready.remove(at: index)
        (current, isDamaged) = (again.picture, again.isDamaged)
        given.insert(tag)
    }

    // MARK: Calls and faults

    /// Has the decoder take a packet or the end. False where it says that the stream is broken.
    ///
    /// - Throws: what the device failed with.
    private func take(end: Bool) throws -> Bool { try perform({ try $0.send(end: end) }) { $0 } }

    private func answer() throws -> DecoderAnswer { try perform({ try $0.receive() }) { $0 != .broken } }

    /// Has the decoder work, on a device through its watch.
    ///
    /// - Throws: what the device failed with.
    private func perform<R: Sendable>(_ body: @escaping @Sendable (VideoDecoder) throws -> R, isGood: (R) -> Bool) throws -> R {
        guard way == .device, let device else { return try body(decoder) }
        // SAFETY: the caller waits while the body runs, or leaves the decoder behind.
        nonisolated(unsafe) let decoder = decoder
        let result = try device.perform("decoding") { unsafe try body(decoder) }
        let code = unsafe decoder.latestCode
        if isGood(result) || code == vaenc_averror_again() { return result }
        // libavcodec's own judgement of the stream; anything else comes from the device.
        if code == vaenc_averror_invalid() {
            if unsafe decoder.lacksMemory { throw VaencError.noMemory("to decode a picture") }
            return result
        }
        throw VaencError(
            .deviceFailed, "decoding failed on \(device.display.vendor) (\(unsafe LibAV.message(code, av)))")
    }

    /// Waits for the decoder's picture where it is on a device. False where the device says that it is broken.
    private func settle() throws -> Bool {
        guard way == .device, let device else { return true }
        guard let surface = try decoder.picture().surface else {
            way = .software(why: "\(device.display.vendor) does not decode this stream (\(LibAV.takeLog() ?? "its profile or size"))")
            return true
        }
        let display = device.display
        let lent = Surface(lent: surface.identifier, by: display, size: surface.size, format: surface.format)
        do {
            try display.watch.run("vaSyncSurface", "a decoded picture", .wait) {
                try lent.sync(timeoutNanoseconds: display.watch.limitNanoseconds)
            }
        } catch let error as VAError where error.status == .decodingError {
            // The reference driver decodes in this process.
            if display.kind == .reference, decoder.lacksMemory { throw VaencError.noMemory("to decode a picture") }
            return false
        }
        return true
    }

    /// Of several threads' pictures nobody knows which is broken: from now on one thread decodes. nil where that is so.
    private func decodeExactly() throws -> Bool? {
        guard tellsDamage, !isExact, way != .device, options.threads != 1, !log.isBroken else { return nil }
        isExact = true
        retire()
        return try again()
    }

    /// Decodes what is logged with another decoder: a new one on the device, the second time in software. What that says of
    /// the latest packet.
    private func recover(from fault: any Error) throws -> Bool {
        var fault = fault
        while true {
            // A call that the device refuses while it decodes is its failure, whatever the status means elsewhere.
            if let error = fault as? VAError { fault = error.endingSession() }
            if let error = fault as? any DescribedError, error.category != .deviceFailed { throw error }
            guard way == .device, !log.isBroken else { throw fault }
            retire()
            rebuilds += 1
            device = rebuilds > 1 ? nil : try? renewed().map { try DecodeDevice($0) }
            if device == nil { way = .software(why: "the device failed: \(fault)") }
            given.subtract(reclaimed())
            do { return try again() } catch { fault = error }
        }
    }

    private func again() throws -> Bool {
        var options = options
        if isExact { options.threads = 1 }
        // A picture that the device had given must come after the same packet: no thread holds pictures back.
        if rebuilds > 0, way != .device { options.isRealTime = true }
        decoder = unsafe try Self.make(stream, options, device, av)
        // A picture that was decoded again before, and could not be read, is the old decoder's.
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

    /// Keeps the pictures that come out and were not given before.
    private func collect() throws {
        while true {
            switch try answer() {
            case .needsInput, .end: return
            case .broken: continue
            case .frame:
                let isWhole = try settle() && !decoder.frameIsDamaged
                guard let frame = unsafe decoder.frame, !given.contains(unsafe vaenc_tag(frame)) else { continue }
                ready.append((try picture(), !isWhole))
            }
        }
    }
}
