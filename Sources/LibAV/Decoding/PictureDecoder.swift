package import CLibAV

/// What a decoder says when it is asked for a picture.
package enum DecoderAnswer: Sendable {
    case frame
    case needsInput
    case end
    case broken
}

/// Packets in, pictures out: libavcodec by itself, or on a device. One thread at a time.
package protocol PictureDecoder: AnyObject {
    /// To be filled, and sent.
    var packet: UnsafeMutablePointer<AVPacket>? { get }
    /// The picture that `receive` gave; it may lie on a device.
    var frame: UnsafeMutablePointer<AVFrame>? { get }
    /// Parts of that picture were missing or broken, and concealed.
    var frameIsDamaged: Bool { get }

    /// Sends `packet` (and empties it), or the end of the stream. False where the decoder refuses it as broken.
    /// - Throws: what a device failed with.
    func send(end: Bool) throws -> Bool

    /// Fills `frame` with the next picture.
    /// - Throws: what a device failed with.
    func receive() throws -> DecoderAnswer

    /// The picture in `frame`, kept.
    func picture() throws -> DecodedPicture

    /// The same in memory, copied there from a device.
    func pictureInMemory() throws -> DecodedPicture

    /// Forgets all packets and pictures, as before a jump.
    func flush()
}

extension PictureDecoder {
    package func send() throws -> Bool { try send(end: false) }

    package var frameIsDamaged: Bool { frameHasErrors(besides: 0) }

    /// What libavcodec says of `frame`.
    ///
    /// - Parameter ignored: decode_error_flags that mean nothing.
    func frameHasErrors(besides ignored: Int32) -> Bool {
        let corrupt: Int32 = 1
        return unsafe frame.map { unsafe $0.pointee.decode_error_flags & ~ignored != 0 || $0.pointee.flags & corrupt != 0 }
            ?? false
    }
}
