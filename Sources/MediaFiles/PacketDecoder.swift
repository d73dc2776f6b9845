import CLibAV
import LibAV
public import VideoBase

/// Decodes a stream in the process through libavcodec: for comparing what was encoded with its source.
/// One thread at a time.
public final class PacketDecoder {
    /// Receives a decoded picture (I420 or what the stream has) and its presentation time, in presentation order. The
    /// planes are valid during the call.
    public typealias FrameHandler = (PixelPlanes, MediaTime) throws -> Void

    private let decoder: VideoDecoder
    /// Presentation times, by the number that stands for each in the decoder.
    private var times: [Int64: MediaTime] = [:]
    private var count: Int64 = 0
    private var converter: PixelConverter?
    private var staging: SystemPixelBuffer?

    /// - Throws: `unavailable` without libavcodec.
    public init(codec: VideoCodec) throws {
        // SAFETY: the decoder's description is static.
        let av = unsafe try LibAV.load(.codec)
        let id = codec.libavcodecID
        guard let found = unsafe av.pointee.avcodec_find_decoder!(id) else {
            throw VaencError(
                .unavailable, "libavcodec has no \(codec.rawValue) decoder",
                remedy: "install the distribution's own libavcodec, which has it")
        }
        _ = LibAV.takeLog()
        var options = VideoDecoder.Options()
        options.strict = true
        decoder = unsafe try VideoDecoder(found, parameters: nil, timeBase: nil, options, av)
    }

    /// Feeds one access unit; `onFrame` runs for each picture that becomes ready.
    /// - Throws: `badInput` with libavcodec's message for a broken stream; what `onFrame` throws.
    public func decode(_ packet: EncodedPacket, onFrame: FrameHandler) throws {
        times[count] = packet.presentation
        count += 1
        if try !decoder.send(packet.bytes, time: count - 1) { throw broken() }
        unsafe try drain(onFrame)
    }

    /// Gives the pictures still held back.
    public func finish(onFrame: FrameHandler) throws {
        _ = try decoder.send(end: true)
        unsafe try drain(onFrame)
        decoder.flush()
    }

    private func broken() -> VaencError {
        VaencError(.badInput, "packet \(count - 1) does not decode (\(LibAV.takeLog() ?? "damaged data"))")
    }

    private func drain(_ onFrame: FrameHandler) throws {
        while true {
            switch try decoder.receive() {
            case .needsInput, .end: return
            case .broken: throw broken()
            case .frame:
                // SAFETY: the frame holds its picture until the decoder is asked for the next.
                let frame = unsafe UnsafePointer(decoder.frame!)
                let time = unsafe times.removeValue(forKey: frame.pointee.pts) ?? .zero
                if let planes = unsafe PixelPlanes(frame) {
                    unsafe try onFrame(planes, time)
                } else {
                    unsafe try convert(PictureView(frame: frame), time, onFrame)
                }
            }
        }
    }

    /// Gives a picture of a layout that has no name here as I420.
    private func convert(_ picture: PictureView, _ time: MediaTime, _ onFrame: FrameHandler) throws {
        let size = unsafe picture.size
        if staging?.size != size { staging = try SystemPixelBuffer(format: .i420, size: size) }
        let converter = self.converter ?? PixelConverter()
        self.converter = converter
        unsafe try staging?.withUnsafePlanes { planes in
            unsafe try converter.scale(picture, to: PictureView(planes))
            unsafe try onFrame(planes, time)
        }
    }
}
