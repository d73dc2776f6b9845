import CLibAV
import LibAV
import VideoBase

extension DecodingSource {
    /// What reading changes.
    struct State {
        var demuxer: Demuxer
        /// In place of the demuxer's own where the last packet is to be looked at first.
        var packets: CheckedPackets?
        var decoder: VideoDecoder
        var shaper: FrameShaper
        var nativeSize: VideoSize
        /// Time of the stream that becomes zero.
        var origin: Int64
        /// Seconds after which nothing is given.
        var duration: Double
        var frameLimit: Int
        var rate: Rational?
        /// Pictures decoded, and given.
        var decoded = 0
        var given = 0
        var previous: Int64?
        var inputEnded = false
        /// Why the input breaks off, told after the good pictures.
        var failure: String?
        /// The decoder's frame holds the first picture, which nobody has taken yet.
        var isPrimed = false
        var dynamicHDR: [UInt8] = []

        /// libavcodec makes up what HEVC's pictures refer to and is not there, so none before a key frame is sent; other
        /// decoders leave such pictures out by themselves.
        let keepsToKeys: Bool
        var awaitsKey = true
        /// Pictures before the first that can be decoded.
        var leftOut = 0

        mutating func read() throws -> InputContext.Reading {
            while true {
                let packet = unsafe decoder.packet!
                let reading = try unsafe packets?.read(packet) ?? demuxer.read(packet)
                let key: Int32 = 1
                guard case .packet = reading, awaitsKey, decoded == 0 else { return reading }
                awaitsKey = unsafe packet.pointee.flags & key == 0
                if !awaitsKey { return reading }
                leftOut += 1
                if !keepsToKeys { return reading }
                unsafe demuxer.av.pointee.av_packet_unref!(packet)
            }
        }

        /// Once the first interlaced picture has come.
        var deinterlacer: Deinterlacer?

        mutating func receive() throws -> VideoDecoder.Receiving {
            if isPrimed {
                isPrimed = false
                return .frame
            }
            let frame = unsafe decoder.frame!
            while true {
                if let deinterlacer, unsafe deinterlacer.pull(into: frame) { return .frame }
                let received = decoder.receive()
                if case .end = received, let deinterlacer {
                    _ = unsafe deinterlacer.push(nil)
                    return unsafe deinterlacer.pull(into: frame) ? .frame : .end
                }
                guard case .frame = received, !decoder.frameIsDamaged else { return received }
                if deinterlacer == nil, unsafe vaenc_is_interlaced(frame) {
                    deinterlacer = unsafe try Deinterlacer(like: frame, timeBase: demuxer.stream.timeBase)
                }
                guard let deinterlacer else { return .frame }
                if unsafe !deinterlacer.push(frame) { return .broken }
            }
        }
    }
}
