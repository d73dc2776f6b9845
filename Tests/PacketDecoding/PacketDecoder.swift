import CLibAV
import LibAV
import MediaFiles
package import VideoBase

/// Decodes a stream in this process through libavcodec and refuses every fault, for tests of encoders. Only one thread
/// may use it at a time.
package final class PacketDecoder {
    /// Receives a decoded picture (I420, or the stream's own layout) and its presentation time, in presentation order.
    /// The planes are valid during the call only.
    package typealias FrameHandler = (PixelPlanes, MediaTime) throws -> Void

    private let decoder: VideoDecoder
    /// The presentation times, by the number that represents each in the decoder.
    private var times: [Int64: MediaTime] = [:]
    private var count: Int64 = 0
    private var converter: PixelConverter?
    private var staging: SystemPixelBuffer?

    /// Creates a decoder that treats every fault as an error.
    /// - Throws: `unavailable` if libavcodec is missing or has no such decoder.
    package init(codec: VideoCodec) throws {
        // SAFETY: the decoder's description is static.
        let av = unsafe try LibAV.load(.codec)
        let id = codec.libavcodecID
        guard let found = unsafe av.pointee.avcodec_find_decoder!(id) else {
            throw VaencError(
                .unavailable, "libavcodec has no \(codec.rawValue) decoder",
                remedy: "install the distribution's own libavcodec, which includes it")
        }
        _ = LibAV.takeLog()
        var options = VideoDecoder.Options()
        options.strict = true
        decoder = unsafe try VideoDecoder(found, parameters: nil, timeBase: nil, options: options, av: av)
    }

    /// Decodes one access unit, and calls `onFrame` for each picture that becomes ready. Blocks.
    /// - Throws: `badInput` with libavcodec's message if the stream is broken; the errors of `onFrame`.
    package func decode(_ packet: EncodedPacket, onFrame: FrameHandler) throws {
        times[count] = packet.presentation
        count += 1
        if try !decoder.send(packet.bytes, time: count - 1) { throw broken() }
        unsafe try drain(onFrame)
    }

    /// Returns the pictures that are still held back, and prepares the decoder for another stream.
    /// - Throws: `badInput` with libavcodec's message if the stream is broken; the errors of `onFrame`.
    package func finish(onFrame: FrameHandler) throws {
        _ = try decoder.send(end: true)
        unsafe try drain(onFrame)
        decoder.flush()
    }

    private func broken() -> VaencError {
        VaencError(.badInput, "packet \(count - 1) cannot be decoded (\(LibAV.takeLog() ?? "damaged data"))")
    }

    private func drain(_ onFrame: FrameHandler) throws {
        while true {
            switch try decoder.receive() {
            case .needsInput, .end: return
            case .broken: throw broken()
            case .frame:
                // SAFETY: the frame holds its picture until the next `receive`.
                let frame = unsafe UnsafePointer(decoder.frame!)
                let time = unsafe times.removeValue(forKey: frame.pointee.pts) ?? .zero
                if let planes = unsafe PixelPlanes(frame) {
                    unsafe try onFrame(planes, time)
                } else {
                    unsafe try convert(PictureView(frame: frame), time: time, onFrame: onFrame)
                }
            }
        }
    }

    /// Converts a picture whose layout vaenc does not have to I420, and calls `onFrame`.
    private func convert(_ picture: PictureView, time: MediaTime, onFrame: FrameHandler) throws {
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
