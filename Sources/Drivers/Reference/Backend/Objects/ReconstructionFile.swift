/// The files of VAENC_REFERENCE_RECON. They hold the reconstructed pictures of one context in coding order, and a text
/// line for each picture.
final class ReconstructionFile {
    private let samples: OutputFile
    private let lines: OutputFile
    private let path: String
    private var index = 0
    private var hasFailed = false

    /// Creates the files. If they cannot be created, writes a message on stderr and returns nil.
    ///
    /// The first context of the process uses `path`. Later contexts append a number to it.
    init?(path: String) {
        let number = DriverProcess.shared.nextRecording()
        let name = number == 0 ? path : "\(path).\(number)"
        guard let samples = OutputFile(path: name), let lines = OutputFile(path: name + ".txt") else {
            DriverProcess.shared.say("cannot write \(name): the reconstruction is not stored")
            return nil
        }
        self.path = name
        self.samples = samples
        self.lines = lines
    }

    /// Appends the visible area of `picture` and its text line.
    ///
    /// The samples are planar 4:2:0. Samples of 10 bits are little-endian words. The line has the index, the type, the
    /// picture order count, the QP and the number of coded bytes.
    func append(_ picture: Reconstruction, _ record: PictureRecord, qp: Int, codedBytes: Int) {
        guard !hasFailed else { return }
        let line = "\(index) \(record.type) \(record.pictureOrderCount) \(qp) \(codedBytes)\n"
        index += 1
        guard samples.write(planes(of: picture, record.crop)), lines.write(Array(line.utf8)) else {
            hasFailed = true
            DriverProcess.shared.say("cannot write \(path): the reconstruction is incomplete")
            return
        }
    }

    /// Returns the samples in `crop` as planes Y, Cb and Cr.
    private func planes(of picture: Reconstruction, _ crop: CroppedArea) -> [UInt8] {
        let (columns, rows) = (crop.width / 2, crop.height / 2)
        let scale = picture.isWide ? 2 : 1
        var out: [UInt8] = []
        out.reserveCapacity(scale * (crop.width * crop.height + 2 * columns * rows))
        let right = crop.left + crop.width
        let bytes = scale * right
        let row = ElementStorage<UInt8>(count: bytes, repeating: 0)
        let (cb, cr) = (ElementStorage<UInt8>(count: bytes, repeating: 0), ElementStorage<UInt8>(count: bytes, repeating: 0))
        for y in crop.top..<crop.top + crop.height {
            picture.copyLumaRow(y, count: right, to: row.elements)
            out.append(row.elements, scale * crop.left..<bytes)
        }
        var crPlane: [UInt8] = []
        crPlane.reserveCapacity(scale * columns * rows)
        let visible = scale * (crop.left / 2)..<scale * (crop.left / 2 + columns)
        for y in crop.top / 2..<crop.top / 2 + rows {
            picture.copyChromaRow(y, count: crop.left / 2 + columns, toCb: cb.elements, cr: cr.elements)
            out.append(cb.elements, visible)
            crPlane.append(cr.elements, visible)
        }
        out += crPlane
        return out
    }
}

extension [UInt8] {
    /// Appends a range of elements.
    ///
    /// SAFETY: the caller passes a range that is inside the pointer's memory.
    fileprivate mutating func append(_ elements: ElementPointer<UInt8>, _ range: Range<Int>) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: elements.base + range.lowerBound, count: range.count))
    }
}
