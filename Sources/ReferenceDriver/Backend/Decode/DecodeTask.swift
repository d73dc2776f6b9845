/// A picture or field to be decoded into a surface's memory.
final class DecodeTask: PictureTask, @unchecked Sendable {
    private let worker: DecodeWorker
    private let packet: DecodePacket
    private let target: Surface
    private let memory: HostMemory
    private let layout: PlaneLayout
    private let counts: CopyCounts
    private var isGood = false

    /// With the monitor held.
    init(_ packet: DecodePacket, into target: Surface, worker: DecodeWorker, counts: CopyCounts) throws {
        self.worker = worker
        self.packet = packet
        self.target = target
        memory = try target.memory()
        layout = target.layout
        self.counts = counts
    }

    func run() { isGood = worker.decode(packet, into: memory, layout) }

    func finish() {
        if !isGood { target.isDamaged = true }
        if !packet.continues { counts.decoded += 1 }
    }
}
