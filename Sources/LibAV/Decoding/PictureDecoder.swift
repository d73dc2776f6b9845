package import CLibAV

/// The result of requesting a picture from a decoder.
package enum DecoderAnswer: Sendable {
    case frame
    case needsInput
    case end
    case broken
}

/// A decoder of packets into pictures: libavcodec in software, or on a device. Only one thread may use it at a time.
package protocol PictureDecoder: AnyObject {
    /// The packet that the caller fills before `send`.
    var packet: UnsafeMutablePointer<AVPacket>? { get }
    /// The picture that `receive` returned. It may be on a device.
    var frame: UnsafeMutablePointer<AVFrame>? { get }
    /// Whether parts of that picture were missing or broken, and were concealed.
    var frameIsDamaged: Bool { get }

    /// Sends `packet` and empties it, or sends the end of the stream. Returns false if the decoder rejects the packet
    /// as broken.
    /// - Throws: The failure of a device, or a lack of memory.
    func send(end: Bool) throws -> Bool

    /// Fills `frame` with the next picture.
    /// - Throws: The failure of a device, or a lack of memory.
    func receive() throws -> DecoderAnswer

    /// Returns a reference to the picture in `frame`.
    func picture() throws -> DecodedPicture

    /// Returns the picture in `frame` in memory, copied from the device if necessary.
    func pictureInMemory() throws -> DecodedPicture

    /// Discards all packets and pictures, as before a seek.
    func flush()
}

extension PictureDecoder {
    package func send() throws -> Bool { try send(end: false) }

    package var frameIsDamaged: Bool { frameHasErrors(besides: 0) }

    /// Whether libavcodec set error flags on `frame`.
    ///
    /// - Parameter ignored: The decode_error_flags to ignore.
    func frameHasErrors(besides ignored: Int32) -> Bool {
        unsafe frame.map { unsafe $0.pointee.decode_error_flags & ~ignored != 0 || $0.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
            ?? false
    }
}
