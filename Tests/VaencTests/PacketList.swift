import Synchronization
import Vaenc

/// Collects the results of a session.
final class PacketList: Sendable {
    private let results = Mutex<[Result<EncodedPacket, any Error>]>([])

    func add(_ result: Result<EncodedPacket, any Error>) { results.withLock { $0.append(result) } }

    func values() throws -> [EncodedPacket] { try results.withLock { try $0.map { try $0.get() } } }
}
