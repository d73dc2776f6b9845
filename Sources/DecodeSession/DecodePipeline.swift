import BitstreamInspection
import CLibAV
import LibAV
import VAAPI
package import VideoBase

/// A picture that the decoder has returned and that waits for other pictures.
private struct HeldPicture {
    var frame: DecodedFrame
    /// The tag by which the decoder identifies the picture.
    var tag: Int64
    /// The position in output order.
    var outputPosition: Int
}

/// A pipeline that takes NAL units and returns pictures in presentation order. One thread at a time.
///
/// The pipeline collects units into pictures and checks the headers of each picture before a decoder gets it. Each
/// picture is either delivered or skipped with a reason.
@safe package final class DecodePipeline {
    /// Receives the result for a picture, and the updated counts.
    package typealias Handler = (DecodedOutput, DecoderStatistics) -> Void

    private let framing: UnitFraming
    private var follower: any StreamFollower
    private let decoder: ResilientDecoder
    private let frames: FrameMaker
    private let handler: Handler
    /// Units that were passed in and not processed yet; not empty if a call failed.
    private var units: ArraySlice<(bytes: ArraySlice<UInt8>, timing: FrameTiming)> = []
    /// Whether the last of these units ends its picture.
    private var unitsEndPicture = false
    private var gathered = GatheredPicture()
    private var waiting = WaitingPictures()
    /// Pictures that the decoder has returned while earlier ones are still missing. The earlier ones may turn out to be
    /// damaged.
    private var held: [HeldPicture] = []
    /// The output positions of pictures that are decoded again because the device that held them failed, by picture
    /// index.
    private var outputPositions: [Int: Int] = [:]
    private var nextOutputPosition = 0
    private let isRealTime: Bool
    private var counts = DecoderStatistics()
    private var hasDelivered = false
    /// Whether a picture that later pictures may refer to was skipped: since the last key picture, and before it.
    private var isDamaged = false
    private var wasDamaged = false

    package var statistics: DecoderStatistics {
        var result = counts
        result.rebuilds = decoder.rebuilds
        return result
    }

    package var backend: ResilientDecoder.Backend { decoder.backend }

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - device: The device that decodes; nil for software.
    ///   - why: The reason for decoding in software, if `device` is nil.
    ///   - end: Returns the error that ends the work; nil to continue. It is called while the pipeline waits for a
    ///     surface.
    ///   - handler: Called on the caller's thread.
    /// - Throws: `badInput` for a malformed record, `usage` for an invalid configuration, `unavailable` if libavcodec
    ///   or its decoder is missing.
    package init(
        _ configuration: DecompressionConfiguration, on device: DecodeDevice?, why: String = "no device was requested",
        end: @escaping () -> VaencError? = { nil }, handler: @escaping Handler
    ) throws {
        try configuration.check()
        let av = unsafe try LibAV.load(.codec)
        let id = configuration.codec.libavcodecID
        guard let codec = unsafe av.pointee.avcodec_find_decoder!(id) else {
            throw VaencError(
                .unavailable, "libavcodec has no \(configuration.codec.rawValue) decoder",
                remedy: "install the distribution's own libavcodec, which includes it")
        }
        var options = VideoDecoder.Options()
        options.threads = configuration.threads ?? configuration.codec.defaultThreads
        options.isRealTime = configuration.isRealTime
        options.keepsOrder = true
        decoder = unsafe try ResilientDecoder(
            DecoderStream(codec, parameters: nil, timeBase: nil), on: device, why: why, options, reportsDamage: true,
            end: end,
            renewed: { try device?.display.reopened() })
        frames = try FrameMaker(configuration)
        follower =
            switch configuration.codec {
            case .h264: H264Follower()
            case .hevc: HEVCFollower()
            }
        self.handler = handler
        isRealTime = configuration.isRealTime
        let known = try configuration.record.map { try ConfigurationRecord($0, codec: configuration.codec) }
        framing = known.map { configuration.framing == .bare ? .bare : .lengthPrefixed($0.lengthSize) } ?? configuration.framing
        decoder.reclaimed = { [unowned self] in takeBackHeld() }
        for set in known?.parameterSets ?? [] { try add(set[...], FrameTiming(presentation: .zero)) }
    }

    // MARK: Input

    /// Takes the NAL units of a picture, of a part of a picture, or of several pictures.
    ///
    /// - Parameter endsPicture: Whether the last picture is complete.
    /// - Throws: `badInput` if the bytes do not have the declared framing; none of them is taken then. `usage` if no
    ///   surface becomes free; the next call processes the remaining units. The final error of a device.
    package func decode(_ bytes: [UInt8], _ timing: FrameTiming, endsPicture: Bool) throws {
        let added = try UnitSplitter.units(of: bytes, framing)
        try takeUnits()
        units = ArraySlice(added.map { ($0, timing) })
        unitsEndPicture = endsPicture
        try takeUnits()
    }

    /// Processes the units. Waits for a surface before each change, so that a later call can continue after a failed
    /// one.
    private func takeUnits() throws {
        while let unit = units.first {
            if gathered.hasSlices { try decoder.waitForSurface() }
            units.removeFirst()
            try add(unit.bytes, unit.timing)
        }
        guard unitsEndPicture else { return }
        if gathered.hasSlices { try decoder.waitForSurface() }
        unitsEndPicture = false
        try endPicture()
    }

    /// Delivers all pictures. The stream may continue with a key picture.
    package func finish() throws {
        try takeUnits()
        if gathered.hasSlices { try decoder.waitForSurface() }
        try endPicture()
        try drain()
        follower.restart()
        (hasDelivered, isDamaged, wasDamaged) = (false, false, false)
        outputPositions = [:]
    }

    private func add(_ unit: ArraySlice<UInt8>, _ timing: FrameTiming) throws {
        let unit = Array(unit)
        let role = follower.take(unit)
        switch role {
        case .leading: if gathered.hasSlices { try endPicture() }
        case .slice(true, _): if gathered.hasSlices { try endPicture() }
        case .broken:
            counts.brokenUnits += 1
            gathered.isBroken = true
            return
        case .other: return
        case .slice, .trailing, .sequenceEnd: break
        }
        gathered.add(unit, role: role, timing: timing)
        if role == .sequenceEnd, gathered.hasSlices { try endPicture() }
    }

    private func endPicture() throws {
        guard gathered.hasSlices else {
            gathered.isBroken = false
            return follower.forgetMessages()
        }
        let done = gathered
        gathered = GatheredPicture()
        let picture = follower.endPicture(isBroken: done.isBroken)
        if picture.restartsDecoding { try drain() }
        if picture.isKey { (wasDamaged, isDamaged) = (isDamaged, false) }
        if picture.mayShowLoss { isDamaged = true }
        let index = picture.isSecondField ? counts.taken - 1 : counts.taken
        if !picture.isSecondField { counts.taken += 1 }
        if let obstacle = picture.obstacle {
            // Later pictures may need the parameter sets and messages of this picture.
            gathered.bytes = done.otherBytes
            return skip(index, timing: done.timing, reason: .init(obstacle))
        }
        if !picture.isSecondField {
            waiting.add(index, done.timing, isKey: picture.isKey, followsDamage: isDamaged || picture.isLeading && wasDamaged)
        }
        let isGood = try send(done.bytes, index, isKey: picture.isKey)
        if !isGood { skipWaiting(index, .damaged) }
        try receive()
        if !picture.isShown { skipWaiting(index, .notShown) }
        for late in waiting.takeOlder(than: index) {
            skip(late.index, timing: late.timing, reason: hasDelivered ? .damaged : .beforeStart)
        }
        release()
    }

    // MARK: The decoder

    private func send(_ bytes: [UInt8], _ index: Int, isKey: Bool) throws -> Bool {
        guard let packet = unsafe decoder.packet,
            unsafe decoder.av.pointee.av_new_packet!(packet, Int32(clamping: bytes.count)) >= 0
        else { throw VaencError.noMemory("to decode a picture of \(bytes.count) bytes") }
        // SAFETY: av_new_packet has allocated this number of bytes.
        unsafe bytes.withUnsafeBytes {
            unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: $0.count).copyMemory(from: $0)
        }
        unsafe packet.pointee.pts = Int64(index)
        if isKey { unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY }
        return try decoder.send(end: false)
    }

    private func receive() throws {
        while true {
            switch try decoder.receive() {
            case .needsInput, .end: return
            // The damaged picture is identified later, when it is missing from the output.
            case .broken: isDamaged = true
            case .frame: try deliver()
            }
        }
    }

    private func drain() throws {
        _ = try decoder.send(end: true)
        try receive()
        decoder.flush()
        for late in waiting.takeAll() {
            skip(late.index, timing: late.timing, reason: hasDelivered ? .damaged : .beforeStart)
        }
        release()
    }

    private func deliver() throws {
        guard let frame = unsafe decoder.frame, let index = Int(exactly: unsafe frame.pointee.pts),
            let picture = waiting.take(index)
        else { return }
        // Pictures that were sent before a key picture are returned before it, or never.
        for late in waiting.takeBefore(keyOf: index) {
            skip(late.index, timing: late.timing, reason: hasDelivered ? .damaged : .beforeStart)
        }
        if decoder.frameIsDamaged { return skip(index, timing: picture.timing, reason: .damaged) }
        let buffer = try frames.buffer(decoder)
        hasDelivered = true
        let outputPosition = outputPositions.removeValue(forKey: index) ?? nextOutputPosition
        nextOutputPosition = max(nextOutputPosition, outputPosition + 1)
        let output = DecodedFrame(
            buffer: buffer, timing: picture.timing, index: index, isKey: picture.isKey,
            color: unsafe FrameMaker.color(UnsafePointer(frame)), followsDamage: picture.followsDamage)
        let behind = held.lastIndex { $0.outputPosition < outputPosition }.map { $0 + 1 } ?? 0
        held.insert(HeldPicture(frame: output, tag: decoder.frameTag, outputPosition: outputPosition), at: behind)
        if isRealTime { release() }
    }

    /// Delivers held pictures that no outstanding picture can still mark as following damage.
    private func release() {
        let oldest = isRealTime ? nil : waiting.oldest
        while let first = held.first, oldest.map({ first.frame.index < $0 }) ?? true {
            // A picture that is being decoded again has an earlier output position.
            if outputPositions.contains(where: { $0.value < first.outputPosition && waiting.contains($0.key) }) {
                return
            }
            held.removeFirst()
            counts.delivered += 1
            handler(.frame(first.frame), statistics)
        }
    }

    /// Takes back pictures on a failed device that were not delivered. They must be decoded again.
    ///
    /// - Returns: The tags of these pictures.
    private func takeBackHeld() -> Set<Int64> {
        let lost = held.filter { $0.frame.buffer is SurfaceBuffer }
        held.removeAll { $0.frame.buffer is SurfaceBuffer }
        for picture in lost {
            outputPositions[picture.frame.index] = picture.outputPosition
            waiting.putBack(picture.frame)
        }
        return Set(lost.map(\.tag))
    }

    private func skipWaiting(_ index: Int, _ reason: SkippedPicture.Reason) {
        if let picture = waiting.take(index) { skip(index, timing: picture.timing, reason: reason) }
    }

    private func skip(_ index: Int, timing: FrameTiming, reason: SkippedPicture.Reason) {
        if reason != .notShown, reason != .beforeStart {
            let end = waiting.markFollowers(after: index)
            if end == .max { isDamaged = true }
            for position in held.indices where held[position].frame.index > index && held[position].frame.index < end {
                held[position].frame.followsDamage = true
            }
        }
        counts.skipped[reason, default: 0] += 1
        handler(.skipped(SkippedPicture(reason: reason, timing: timing, index: index)), statistics)
    }
}

extension SkippedPicture.Reason {
    init(_ obstacle: FollowedPicture.Obstacle) {
        self =
            switch obstacle {
            case .noParameterSets: .noParameterSets
            case .beforeStart: .beforeStart
            case .missingReference: .missingReference
            case .damaged: .damaged
            }
    }
}

extension DecompressionConfiguration {
    /// - Throws: `usage` for values that no session supports.
    func check() throws {
        if let size, size.width < 1 || size.height < 1 || size.width > 16384 || size.height > 16384 {
            throw VaencError(.usage, "the picture size \(size) is out of range", remedy: "use 1×1 to 16384×16384")
        }
        if let threads, threads < 1 || threads > 64 {
            throw VaencError(.usage, "the number of threads \(threads) is out of range", remedy: "use 1 to 64, or nil")
        }
        if case .lengthPrefixed(let size) = framing { try UnitSplitter.check(lengthSize: size) }
    }
}

extension VideoCodec {
    /// The number of libavcodec's threads; nil leaves it to libavcodec.
    fileprivate var defaultThreads: Int? {
        switch self {
        // If it decodes several pictures at once, FFmpeg before 7.1 may not report which of them lack a slice.
        case .h264: 1
        case .hevc: nil
        }
    }
}
