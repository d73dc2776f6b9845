package import CLibAV
package import LibAV
package import VideoBase

extension DecodingSource {
    /// Creates a decoder. It receives libavcodec's decoder, the container's parameters of the stream (valid as long as
    /// the source), and the time base of the packets.
    package typealias DecoderMaker = (
        UnsafePointer<AVCodec>, UnsafePointer<AVCodecParameters>, Rational
    ) throws -> any PictureDecoder

    /// Replaces the decoder of the input. Does nothing after the first picture was taken.
    package func decode(with make: DecoderMaker) throws {
        try input.withLock { input in
            guard let input, input.decoded == 0 else { return }
            let demuxer = input.demuxer
            input.replaceDecoder(by: unsafe try make(demuxer.decoder, demuxer.parameters, demuxer.stream.timeBase))
        }
    }

    /// The input's codec, if vaenc encodes it too; nil otherwise.
    package var codec: VideoCodec? {
        input.withLock { input in
            guard let demuxer = input?.demuxer else { return nil }
            return unsafe VideoCodec(libavcodecID: demuxer.parameters.pointee.codec_id)
        }
    }

    /// Reads the next picture into a buffer, and returns it with its time; nil at the end. Otherwise it behaves like
    /// `readFrame`.
    ///
    /// - Parameters:
    ///   - wrap: Returns a buffer for a picture on the decoder's device, fitted into the output's size by the given
    ///     parts; nil if the picture must be drawn into another buffer.
    ///   - makeBuffer: Returns a buffer to draw into, of the size in `info`.
    package func readBuffer(
        wrap: (DecodedPicture, FittedParts) throws -> (any PixelBuffer)?, makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        var buffer: (any PixelBuffer)?
        let timing = try read { input in
            if input.isOnDevice, let direct = try offer(input, to: wrap) {
                input.readMetadata()
                buffer = direct
            } else {
                let target = try makeBuffer()
                try unsafe target.withUnsafePlanes { unsafe try deliver(input, to: $0) }
                buffer = target
            }
        }
        guard let timing, let buffer else { return nil }
        return (buffer, timing)
    }

    private func offer(
        _ input: DecodedInput, to wrap: (DecodedPicture, FittedParts) throws -> (any PixelBuffer)?
    ) throws -> (any PixelBuffer)? {
        let picture = try input.decoder.picture()
        input.follow(picture.size)
        return try wrap(picture, input.fitting.shaper.parts)
    }
}
