package import CLibAV
import VideoBase

/// A copy of a packet, for sending it again. It shares the packet's bytes through libav's reference count.
@safe package final class PacketCopy {
    // SAFETY: an AVPacket that this object owns; `deinit` frees it.
    private var ownedPacket: UnsafeMutablePointer<AVPacket>?
    private let av: UnsafePointer<VaencLibAV>

    /// Creates a reference to the bytes of `packet`.
    /// - Throws: If there is no memory.
    package init(of packet: UnsafePointer<AVPacket>, _ av: UnsafePointer<VaencLibAV>) throws {
        unsafe self.av = unsafe av
        unsafe ownedPacket = av.pointee.av_packet_alloc!()
        guard let ownedPacket = unsafe ownedPacket, unsafe av.pointee.av_packet_ref!(ownedPacket, packet) >= 0 else {
            throw VaencError.noMemory("to keep a packet")
        }
    }

    deinit { unsafe av.pointee.av_packet_free!(&ownedPacket) }

    package var byteCount: Int { unsafe Int(ownedPacket?.pointee.size ?? 0) }
    /// Whether decoding can begin at this packet.
    package var isKey: Bool { unsafe (ownedPacket?.pointee.flags ?? 0) & AV_PKT_FLAG_KEY != 0 }

    /// Makes `packet`, which must be empty, refer to the same bytes.
    /// - Throws: If there is no memory.
    package func fill(_ packet: UnsafeMutablePointer<AVPacket>) throws {
        guard let ownedPacket = unsafe ownedPacket, unsafe av.pointee.av_packet_ref!(packet, ownedPacket) >= 0 else {
            throw VaencError.noMemory("to decode a packet again")
        }
    }
}
