/// A picture to encode, and the coded buffer for its bytes.
final class EncodeTask: PictureTask, @unchecked Sendable {
    private let worker: EncodeWorker
    private let picture: PlannedPicture
    private let coded: CodedBuffer
    private var result: EncodeWorker.CodedPicture?

    init(_ picture: PlannedPicture, into coded: CodedBuffer, worker: EncodeWorker) {
        self.worker = worker
        self.picture = picture
        self.coded = coded
    }

    func run() {
        let result = worker.encode(picture, room: coded.memory.byteCount)
        if !picture.isSkipped { worker.record(picture, result) }
        self.result = result
    }

    func finish() {
        coded.job = nil
        guard let result else { return }
        coded.write(
            result.units, headers: picture.leading.count, averageQP: result.averageQP,
            maximumFrameBits: picture.maximumFrameBits, flags: result.flags, behavior: worker.behavior)
        if !picture.isSkipped { worker.counts.encoded += 1 }
    }
}
