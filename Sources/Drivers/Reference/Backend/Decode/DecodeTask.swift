/// A task that decodes a picture or field into the memory of a surface.
final class DecodeTask: PictureTask, @unchecked Sendable {
    private let worker: DecodeWorker
    private let packet: DecodePacket
    private let target: Surface
    private let mark: DecodeMark
    private let memory: HostMemory
    private let layout: PlaneLayout
    private let counts: CopyCounts
    private var result = DecodeWorker.Result.damaged

    /// Creates a task. Call it with the monitor held. Throws if there is no memory for the surface.
    ///
    /// - Parameter mark: The mark that the surface gets.
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
        // If a later picture was submitted on the surface, the surface has another mark.
        if result != .whole, target.mark == mark {
            target.isDamaged = true
            if result == .noMemory { target.lacksMemory = true }
        }
        if !packet.continues { counts.decoded += 1 }
    }
}
