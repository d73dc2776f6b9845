import H264Syntax
import HEVCSyntax
import NALUnits
import RateControl
import VideoBase

/// Writes the delays of the hypothetical reference decoder into a library's stream. The delays are computed from the
/// sizes of the access units, as on the hardware path: see `HRDTiming`.
///
/// The library's own delays are not correct. libx265 does not count start codes, SEI messages and parameter sets. After
/// a drain, a library begins a new stream with an initial buffer, so its delays do not follow from the data that was
/// sent before (H.264 C.3, H.265 C.4).
struct DecoderDelays: Sendable {
    private let hrd: StreamHRD
    private let codec: VideoCodec
    /// The rate that the library uses, in bits per second.
    private let libraryRate: Int
    /// The maximum difference between decoding order and display order, in pictures.
    private let depth: Int
    /// The timing since the current buffering period; nil before the first one.
    private var timing: HRDTiming?
    /// The number of pictures that were coded since the beginning of the current buffering period.
    private var sinceBuffering = 0

    /// Returns nil for a stream without HRD parameters.
    init?(_ settings: EncoderSettings, _ headers: StreamHeaders) {
        guard let hrd = headers.hrd else { return nil }
        self.hrd = hrd
        codec = settings.codec
        libraryRate = headers.libraryRate
        depth = settings.reorderDepth
    }

    /// Writes the delays of the next packet in coding order. If the rate is constant, adds filler data.
    ///
    /// - Returns: Whether the picture is in the decoder's buffer in time.
    mutating func write(into packet: inout EncodedPacket) -> Bool {
        var output: [UInt8] = []
        output.reserveCapacity(packet.bytes.count + 64)
        var begins = false
        for unit in AnnexB.units(in: packet.bytes.span) {
            switch NALUnitKind(header: packet.bytes[unit.lowerBound], codec) {
            case .prefixSEI:
                let order = packet.displayIndex - packet.codingIndex
                AnnexB.append(information(packet.bytes[unit], order: order, &begins), to: &output)
            // With a constant rate, filler data is recomputed below.
            case .filler where hrd.isConstant: break
            default: AnnexB.append(packet.bytes[unit], to: &output)
            }
        }
        defer {
            packet.bytes = output
            sinceBuffering = begins ? 1 : sinceBuffering + 1
        }
        guard var timing else { return true }
        let filler = timing.filler(afterBits: output.count * 8) / 8 - AnnexB.startCode.count
        if filler > 0 {
            let unit =
                switch codec {
                case .h264: H264Syntax.FillerData.unit(byteCount: filler)
                case .hevc: HEVCSyntax.FillerData.unit(byteCount: filler)
                }
            AnnexB.append(unit, to: &output)
        }
        let keepsBuffer = timing.coded(bits: output.count * 8, beginsBufferingPeriod: begins)
        self.timing = timing
        return keepsBuffer
    }

    /// Returns an SEI NAL unit with new delays.
    private mutating func information(_ unit: ArraySlice<UInt8>, order: Int, _ begins: inout Bool) -> [UInt8] {
        var bits = UnescapedBits(unit)
        bits.position = 8 * codec.nalUnitHeaderSize
        func number(_ bits: inout UnescapedBits) -> Int {
            var value = 0
            while !bits.isExhausted {
                let byte = bits.u(8)
                value += byte
                if byte != 255 { break }
            }
            return value
        }
        // A message has at least two bytes; the rbsp_trailing_bits have one.
        while bits.position + 16 < bits.bitCount {
            let type = number(&bits)
            let size = number(&bits)
            let end = bits.position + size * 8
            if end > bits.bitCount { break }
            switch type {
            case 0:
                begins = true
                writeBufferingPeriod(&bits)
            case 1: writeTiming(&bits, order: order)
            default: break
            }
            bits.position = end
        }
        return bits.unit
    }

    /// Writes buffering_period(), H.264 D.1.2, H.265 D.2.2.
    private mutating func writeBufferingPeriod(_ bits: inout UnescapedBits) {
        bits.ue()
        switch codec {
        case .h264: break
        case .hevc:
            // irap_cpb_params_present_flag and the offsets with it, concatenation_flag,
            // au_cpb_removal_delay_delta_minus1.
            if bits.flag() { bits.position += hrd.removalDelayLength + hrd.outputDelayLength }
            bits.position += 1 + hrd.removalDelayLength
        }
        let start = bits.position
        let own = bits.u(hrd.initialDelayLength)
        let timing = self.timing ?? begun(afterTicks: own)
        self.timing = timing
        let initial = timing.initialDelay
        let most = 1 << hrd.initialDelayLength - 1
        bits.position = start
        bits.write(min(initial.delay, most), bits: hrd.initialDelayLength)
        bits.write(min(initial.offset, most), bits: hrd.initialDelayLength)
    }

    /// Returns a timing that begins with the library's initial buffer fullness.
    private func begun(afterTicks ticks: Int) -> HRDTiming {
        let bits = (Int128(ticks) * Int128(libraryRate) + 89_999) / 90_000
        return HRDTiming(
            bitrate: hrd.bitrate, bufferSize: hrd.cpbSize, initialFullness: Int(clamping: bits), frameRate: hrd.frameRate,
            isConstant: hrd.isConstant, minFillerBytes: AnnexB.startCode.count + codec.nalUnitHeaderSize + 1)
    }

    /// Writes pic_timing(), H.264 D.1.3, H.265 D.2.3: the delay since the current buffering period, and the output
    /// delay.
    private func writeTiming(_ bits: inout UnescapedBits, order: Int) {
        let ticks = StreamHRD.ticksPerPicture(codec)
        let output = max(order + depth, 0)
        let removal: Int
        switch codec {
        case .h264: removal = sinceBuffering * ticks
        case .hevc:
            // au_cpb_removal_delay_minus1: the delay is at least 1.
            removal = max(sinceBuffering - 1, 0)
            if hrd.hasFieldInformation { bits.position += 7 }
        }
        bits.write(removal & (1 << hrd.removalDelayLength - 1), bits: hrd.removalDelayLength)
        bits.write((output * ticks) & (1 << hrd.outputDelayLength - 1), bits: hrd.outputDelayLength)
    }
}
