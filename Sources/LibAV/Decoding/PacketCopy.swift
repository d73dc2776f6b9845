package import CLibAV
import VideoBase

/// A packet kept to be sent again. Its bytes are counted by libav, not copied.
@safe package final class PacketCopy {
    // SAFETY: an AVPacket of this object's own, freed in deinit.
    private var own: UnsafeMutablePointer<AVPacket>?
    private let av: UnsafePointer<VaencLibAV>

    package init(of packet: UnsafePointer<AVPacket>, _ av: UnsafePointer<VaencLibAV>) throws {
        unsafe self.av = unsafe av
        unsafe own = av.pointee.av_packet_alloc!()
        guard let own = unsafe own, unsafe av.pointee.av_packet_ref!(own, packet) >= 0 else {
            throw VaencError.noMemory("to keep a packet")
        }
    }

    deinit { unsafe av.pointee.av_packet_free!(&own) }

    package var byteCount: Int { unsafe Int(own?.pointee.size ?? 0) }
    /// Decoding can begin here.
    package var isKey: Bool { unsafe (own?.pointee.flags ?? 0) & 1 != 0 }

    /// Has `packet`, which is empty, refer to the same bytes.
    package func fill(_ packet: UnsafeMutablePointer<AVPacket>) throws {
        guard let own = unsafe own, unsafe av.pointee.av_packet_ref!(packet, own) >= 0 else {
            throw VaencError.noMemory("to decode a packet again")
        }
    }
}
