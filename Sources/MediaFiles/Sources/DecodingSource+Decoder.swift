package import CLibAV
package import LibAV
package import VideoBase

extension DecodingSource {
    /// Makes a decoder of libavcodec's, what the container says of the stream (valid as long as the source) and the base of
    /// its packets' times.
    package typealias DecoderMaker = (
        UnsafePointer<AVCodec>, UnsafePointer<AVCodecParameters>, Rational
    ) throws -> any PictureDecoder

    /// Has another decoder read the input; before the first picture is taken.
    package func decode(with make: DecoderMaker) throws {
        try state.withLock { state in
            guard let demuxer = state?.demuxer, state?.decoded == 0 else { return }
            let decoder = unsafe try make(demuxer.decoder, demuxer.parameters, demuxer.stream.timeBase)
            state?.decoder = decoder
            // What the first one was sent to have the first picture.
            let sent = state?.sent ?? []
            state?.again = sent
            state?.sent = []
            state?.isPrimed = false
            state?.inputEnded = false
        }
    }

    /// The input's codec, where it is one that vaenc encodes too.
    package var codec: VideoCodec? {
        state.withLock { state in
            guard let demuxer = state?.demuxer else { return nil }
            return unsafe VideoCodec(libavcodecID: demuxer.parameters.pointee.codec_id)
        }
    }

    /// The next picture with its time, in a buffer; nil at the end. Otherwise as `readFrame`.
    ///
    /// - Parameters:
    ///   - taken: the buffer of a picture on the decoder's device, fitted there into the source's size as said; nil: it is
    ///     to be drawn into another.
    ///   - makeBuffer: a buffer to draw into, of the size `info` says.
    package func readBuffer(
        taken: (DecodedPicture, FittedParts) throws -> (any PixelBuffer)?, makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        var buffer: (any PixelBuffer)?
        let timing = try read { state in
            if state.isOnDevice, let direct = try offer(&state, to: taken) {
                state.readMetadata()
                buffer = direct
            } else {
                let own = try makeBuffer()
                try unsafe own.withUnsafePlanes { unsafe try deliver(&state, to: $0) }
                buffer = own
            }
        }
        guard let timing, let buffer else { return nil }
        return (buffer, timing)
    }
    private func offer(
        _ state: inout State, to taken: (DecodedPicture, FittedParts) throws -> (any PixelBuffer)?
    ) throws -> (any PixelBuffer)? {
        let picture = try state.decoder.picture()
        follow(picture.size, &state)
        return try taken(picture, state.shaper.parts)
    }
}
