import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Checks whether the last picture of an HEVC stream is complete, if the format does not state its size.
///
/// libavcodec reads zeros after the end of a truncated slice, leaves the samples of missing slices unwritten, and
/// reports no error. But the arithmetic decoder of a complete slice stops at end_of_slice_segment_flag (9.3.2.5), and a
/// complete picture writes all its samples. Therefore the latest pictures are decoded several times, with different
/// bytes after the last slice and in the memory for pictures. If the last picture is complete, the result is always the
/// same.
struct LastPictureCheck {
    private static let pictureLimit = 32
    private static let byteLimit = 32 << 20

    private struct AccessUnit {
        var bytes: [UInt8]
        var isKey: Bool
    }
    /// The access units from the second-to-last key picture on, because leading pictures may refer to that one; within
    /// the limits. Without a key picture, the first units miss their references in the same way each time.
    private var units: [AccessUnit] = []
    /// The size of `units` in bytes.
    private var bytes = 0
    /// The parameter sets of dropped units, in order, each once. The remaining units may refer to them, and the decoder
    /// may be opened with the sets of another sequence.
    private var sets: [[UInt8]] = []
    /// The maximum number of these sets.
    private static let setLimit = 64
    /// The number of bytes of an access unit that are searched for parameter sets.
    private static let headLength = 4096

    mutating func append(_ unit: [UInt8], isKey: Bool) {
        if isKey, let latest = units.lastIndex(where: \.isKey) { drop(latest) }
        units.append(AccessUnit(bytes: unit, isKey: isKey))
        bytes += unit.count
        while units.count > Self.pictureLimit || (bytes > Self.byteLimit && units.count > 1) { drop(1) }
    }

    private mutating func drop(_ count: Int) {
        for unit in units.prefix(count) {
            bytes -= unit.bytes.count
            keepSets(of: unit.bytes)
        }
        units.removeFirst(count)
    }

    private mutating func keepSets(of unit: [UInt8]) {
        // The slices follow the parameter sets.
        let head = Array(unit.prefix(Self.headLength))
        for range in AnnexB.units(in: head.span) where range.upperBound < head.count {
            let type = head[range.lowerBound] >> 1 & 63
            if type < 32 { return }
            guard (32...34).contains(type) else { continue }
            let set = Array(head[range])
            sets.removeAll { $0 == set }
            sets.append(set)
        }
        sets.removeFirst(max(0, sets.count - Self.setLimit))
    }

    /// Whether the last access unit is truncated.
    ///
    /// - Parameter decoder: Creates a decoder that fills the memory of pictures with `fill`.
    func isCut(_ decoder: (_ fill: UInt8) throws -> VideoDecoder) throws -> Bool {
        // Errors that the attempts log must not be reported as faults of the file.
        defer { _ = LibAV.takeLog() }
        guard let last = units.last?.bytes else { return false }
        // The unit ends with a bare start code. Its trailing zeros may also be the first byte of a header.
        if last.reversed().drop(while: { $0 == 0 }).starts(with: [1, 0, 0]) { return true }
        guard let slice = AnnexB.units(in: last.span).last, last[slice.lowerBound] >> 1 & 63 < 32 else {
            return try lastPicture(decoder(0), suffix: []) != lastPicture(decoder(1), suffix: [])
        }
        // The slice consists of its NAL unit header only, which decoders skip.
        if slice.count <= 2 { return true }
        // The suffixes are longer than a decoder reads ahead, and contain no start code.
        let suffixes: [[UInt8]] = [[], [UInt8](repeating: 0xFF, count: 64), [UInt8](repeating: 0x55, count: 64)]
        var pictures: [Int?] = []
        for (index, suffix) in suffixes.enumerated() {
            pictures.append(try lastPicture(decoder(UInt8(index)), suffix: suffix))
        }
        if pictures.contains(where: { $0 != pictures[0] }) { return true }
        // Decoders skip a slice with a truncated header. RASL pictures and pictures of other layers may legitimately
        // not be output.
        let type = last[slice.lowerBound] >> 1 & 63
        let isBaseLayer = last[slice.lowerBound] & 1 == 0 && last[slice.lowerBound + 1] >> 3 == 0
        return pictures[0] == nil && slice.count < 16 && isBaseLayer && !(8...9).contains(type)
    }

    /// Returns a hash of the samples of the last picture in decoding order; nil if it is not output.
    private func lastPicture(_ decoder: VideoDecoder, suffix: [UInt8]) throws -> Int? {
        var found: Int?
        func drain() throws {
            while true {
                switch try decoder.receive() {
                case .frame: if decoder.frameTime == Int64(units.count - 1) { found = decoder.frameHash }
                case .broken: continue
                case .needsInput, .end: return
                }
            }
        }
        var before: [UInt8] = []
        for set in sets { AnnexB.append(set, to: &before) }
        for (index, unit) in units.enumerated() {
            let bytes = index == units.count - 1 ? unit.bytes + suffix : unit.bytes
            _ = try decoder.send(before + bytes, time: Int64(index))
            before = []
            try drain()
        }
        _ = try decoder.send(end: true)
        try drain()
        return found
    }
}

/// Reads a demuxer's packets one packet late, and returns the last one only if its picture is complete.
@safe final class CheckedPackets {
    private let demuxer: Demuxer
    private var check = LastPictureCheck()
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private var held: UnsafeMutablePointer<AVPacket>?
    private var spare: UnsafeMutablePointer<AVPacket>?
    private var holds = false
    private var end: InputContext.Reading?

    /// Creates the check of an input. Returns nil if no check is needed: other codecs' decoders report missing data,
    /// and other containers state packet sizes.
    init?(_ demuxer: Demuxer) {
        switch unsafe VideoCodec(libavcodecID: demuxer.parameters.pointee.codec_id) {
        case .hevc: break
        case .h264, nil: return nil
        }
        guard ["hevc", "mpegts"].contains(demuxer.stream.container) else { return nil }
        self.demuxer = demuxer
        unsafe held = demuxer.av.pointee.av_packet_alloc!()
        unsafe spare = demuxer.av.pointee.av_packet_alloc!()
        if unsafe held == nil || spare == nil { return nil }
    }

    deinit {
        unsafe demuxer.av.pointee.av_packet_free!(&held)
        unsafe demuxer.av.pointee.av_packet_free!(&spare)
    }

    /// Reads the next packet like `Demuxer.read`.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws -> InputContext.Reading {
        let av = unsafe demuxer.av
        while end == nil {
            switch try unsafe demuxer.read(spare!) {
            case .packet:
                unsafe check.append(
                    Array(UnsafeBufferPointer(start: spare!.pointee.data, count: Int(spare!.pointee.size))),
                    isKey: spare!.pointee.flags & AV_PKT_FLAG_KEY != 0)
                let isReady = holds
                if isReady { unsafe av.pointee.av_packet_move_ref!(packet, held) }
                unsafe av.pointee.av_packet_move_ref!(held, spare)
                holds = true
                if isReady { return .packet }
            case let reading: end = reading
            }
        }
        guard holds else { return end ?? .end }
        holds = false
        if case .end? = end, try isCut() {
            unsafe av.pointee.av_packet_unref!(held)
            end = .broken(InputContext.cut)
            return .broken(InputContext.cut)
        }
        unsafe av.pointee.av_packet_move_ref!(packet, held)
        return .packet
    }

    private func isCut() throws -> Bool {
        try check.isCut { fill in
            var options = VideoDecoder.Options()
            options.fill = fill
            return try unsafe VideoDecoder(
                demuxer.decoder, parameters: demuxer.parameters, timeBase: nil, options: options, av: demuxer.av)
        }
    }
}
