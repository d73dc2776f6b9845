import H264Syntax
import HEVCSyntax
import NALUnits
import RateControl
import VideoBase

/// Writes the delays of the hypothetical decoder into a library's stream, from the sizes of its access units, as the
/// hardware path does: `HRDTiming` has the arithmetic.
///
/// libx265 does not count start codes, SEI and parameter sets, and each stream that a library begins after a drain
/// starts with a buffer of its own: their delays then do not follow from what was sent before (H.264 C.3, H.265 C.4).
struct DecoderDelays: Sendable {
    private let hrd: StreamHRD
    private let codec: VideoCodec
    /// What the library takes the rate to be.
    private let libraryRate: Int
    /// Pictures by which decoding order and display order differ at most.
    private let depth: Int
    /// From the first buffering period on.
    private var timing: HRDTiming?
    /// Pictures coded since the latest that began a buffering period.
    private var sinceBuffering = 0

    /// nil for a stream without HRD parameters.
    init?(_ settings: EncoderSettings, _ headers: StreamHeaders) {
        guard let hrd = headers.hrd else { return nil }
        self.hrd = hrd
        codec = settings.codec
        libraryRate = headers.libraryRate
        depth = settings.reorderDepth
    }

    /// Writes the delays of the next packet in coding order, and fills it up where the rate is constant.
    ///
    /// - Returns: whether the picture is in the decoder's buffer in time.
    mutating func write(into packet: inout EncodedPacket) -> Bool {
        var output: [UInt8] = []
        output.reserveCapacity(packet.bytes.count + 64)
        var begins = false
        for unit in AnnexB.units(in: packet.bytes.span) {
            switch NALUnitKind(header: packet.bytes[unit.lowerBound], codec) {
            case .prefixSEI:
                let order = packet.displayIndex - packet.codingIndex
                AnnexB.append(information(packet.bytes[unit], order: order, &begins), to: &output)
            // At a constant rate, filler is written below.
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

    /// An SEI NAL unit with its delays written anew.
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
        // A message has two bytes at least, the stop bit has one.
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

    /// buffering_period(), H.264 D.1.2, H.265 D.2.2.
    private mutating func writeBufferingPeriod(_ bits: inout UnescapedBits) {
        bits.ue()
        switch codec {
        case .h264: break
        case .hevc:
            // irap_cpb_params_present_flag and the offsets with it, concatenation_flag, au_cpb_removal_delay_delta_minus1.
            if bits.flag() { bits.position += hrd.removalDelayLength + hrd.outputDelayLength }
            bits.position += 1 + hrd.removalDelayLength
        }
        let place = bits.position
        let own = bits.u(hrd.initialDelayLength)
        let timing = self.timing ?? begun(afterTicks: own)
        self.timing = timing
        let initial = timing.initialDelay
        let most = 1 << hrd.initialDelayLength - 1
        bits.position = place
        bits.write(min(initial.delay, most), bits: hrd.initialDelayLength)
        bits.write(min(initial.offset, most), bits: hrd.initialDelayLength)
    }

    /// The buffer as full as the library begins with it.
    private func begun(afterTicks ticks: Int) -> HRDTiming {
        let bits = (Int128(ticks) * Int128(libraryRate) + 89_999) / 90_000
        return HRDTiming(
            bitrate: hrd.bitrate, bufferSize: hrd.cpbSize, initialFullness: Int(clamping: bits), frameRate: hrd.frameRate,
            isConstant: hrd.isConstant, leastFillerBytes: AnnexB.startCode.count + codec.nalUnitHeaderSize + 1)
    }

    /// pic_timing(), H.264 D.1.3, H.265 D.2.3: the times from the latest buffering period, and to the output.
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
