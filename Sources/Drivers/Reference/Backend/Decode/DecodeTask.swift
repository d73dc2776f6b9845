/// A picture or field to be decoded into a surface's memory.
final class DecodeTask: PictureTask, @unchecked Sendable {
    private let worker: DecodeWorker
    private let packet: DecodePacket
    private let target: Surface
    private let mark: DecodeMark
    private let memory: HostMemory
    private let layout: PlaneLayout
    private let counts: CopyCounts
    private var result = DecodeWorker.Result.damaged

    /// With the monitor held.
    /// - Parameter mark: what the surface is marked with from now on.
    init(
        _ packet: DecodePacket, into target: Surface, as mark: DecodeMark, worker: DecodeWorker, counts: CopyCounts
    ) throws {
        self.mark = mark
        self.worker = worker
        self.packet = packet
        self.target = target
        memory = try target.memory()
        layout = target.layout
        self.counts = counts
    }

    func run() { result = worker.decode(packet, into: memory, layout) }

    func finish() {
        // The surface may be meant for something else by now.
        if result != .whole, target.mark == mark {
            target.isDamaged = true
            if result == .noMemory { target.lacksMemory = true }
        }
        if !packet.continues { counts.decoded += 1 }
    }
}
