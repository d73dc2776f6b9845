internal import CVA

/// A VA surface: NV12 or P010 memory that takes room when first used, or a reconstructed picture, or both.
/// Guarded by the display's monitor.
final class Surface {
    let id: VASurfaceID
    let width: Int
    let height: Int
    /// P010: two bytes to a sample, little-endian, the value in the high 10 bits.
    let isWide: Bool
    /// Bytes from a row to the next, of both planes.
    let pitch: Int
    /// Where the Cb/Cr pairs start.
    let chromaOffset: Int
    let byteCount: Int

    private var storage: HostMemory?
    /// What the last picture that was reconstructed here left; nil after a client wrote into the surface.
    var reconstruction: Reconstruction?
    /// The reconstruction is newer than the memory.
    private var memoryIsStale = false
    /// What a decoder left here, if it was the last to write.
    private(set) var mark: DecodeMark?
    /// What was decoded here last is not all that was encoded.
    var isDamaged = false
    /// For clients that ask what is wrong.
    let errorList = DecodeErrorList()
    /// Jobs that read or write this surface and are not done.
    var jobs: [Job] = []
    /// Images derived from this surface that are not destroyed.
    var derivedImages = 0
    /// Of those, the ones that are mapped.
    var mappings = 0

    init(id: VASurfaceID, width: Int, height: Int, isWide: Bool = false) {
        self.id = id
        self.isWide = isWide
        self.width = width
        self.height = height
        pitch = ((isWide ? 2 * width : width) + 63) & ~63
        let rows = (height + 15) & ~15
        chromaOffset = pitch * rows
        byteCount = chromaOffset + pitch * rows / 2
    }

    /// The memory, holding what the surface shows. No job may be writing the reconstruction.
    func memory() throws -> HostMemory {
        if storage == nil { storage = HostMemory(byteCount: byteCount) }
        guard let storage else { throw Refusal.allocation("no memory for a \(width)x\(height) surface") }
        if memoryIsStale, let reconstruction {
            let luma = storage.lane(at: 0)
            let chroma = storage.lane(at: chromaOffset)
            let columns = min(width, reconstruction.width)
            let rows = min(height, reconstruction.height)
            for y in 0..<rows {
                reconstruction.copyLumaRow(y, count: columns, to: luma + y * pitch)
                if isWide { Self.shift(luma + y * pitch, count: columns) }
            }
            for y in 0..<(rows + 1) / 2 {
                reconstruction.copyChromaRow(y, count: (columns + 1) / 2, toPairs: chroma + y * pitch)
                if isWide { Self.shift(chroma + y * pitch, count: (columns + 1) & ~1) }
            }
            memoryIsStale = false
        }
        return storage
    }

    /// Moves words' values from the low 10 bits to the high ones.
    private static func shift(_ row: Lane<UInt8>, count: Int) {
        for index in 0..<count {
            let word = row.load(2 * index, as: UInt16.self).littleEndian
            row.store(2 * index, (word << 6).littleEndian)
        }
    }

    /// What the surface shows is not in its memory yet.
    var isWritten: Bool { memoryIsStale && !jobs.isEmpty }

    /// A picture is being reconstructed here: `picture` is what the surface shows from now on.
    func become(_ picture: Reconstruction) {
        reconstruction = picture
        memoryIsStale = true
        mark = nil
        isDamaged = false
    }

    /// A picture is being decoded into the memory, or its second field.
    func isDecoded(_ mark: DecodeMark, continues: Bool) {
        let wasDamaged = continues && isDamaged
        clientWrote()
        self.mark = mark
        isDamaged = wasDamaged
    }

    /// A client wrote into the memory: what was reconstructed or decoded here is gone.
    func clientWrote() {
        reconstruction = nil
        memoryIsStale = false
        mark = nil
        isDamaged = false
    }
}
