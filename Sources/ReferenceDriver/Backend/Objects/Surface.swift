internal import CVA

/// A VA surface: NV12 memory that takes room when first used, or a reconstructed picture, or both.
/// Guarded by the display's monitor.
final class Surface {
    let id: VASurfaceID
    let width: Int
    let height: Int
    /// Bytes from a row to the next, of both planes.
    let pitch: Int
    /// Where the Cb/Cr pairs start.
    let chromaOffset: Int
    let byteCount: Int

    private var storage: HostMemory?
    /// What the last picture that was reconstructed here left; nil after a client wrote into the surface.
    var reconstruction: ReconstructedPicture?
    /// The reconstruction is newer than the memory.
    private var memoryIsStale = false
    /// Jobs that read or write this surface and are not done.
    var jobs: [EncodeJob] = []
    /// Images derived from this surface that are not destroyed.
    var derivedImages = 0
    /// Of those, the ones that are mapped.
    var mappings = 0

    init(id: VASurfaceID, width: Int, height: Int) {
        self.id = id
        self.width = width
        self.height = height
        pitch = (width + 63) & ~63
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
            let columns = min(width, 16 * reconstruction.widthInMacroblocks)
            let rows = min(height, 16 * reconstruction.heightInMacroblocks)
            for y in 0..<rows {
                reconstruction.copyLumaRow(y, count: columns, to: luma + y * pitch)
            }
            for y in 0..<(rows + 1) / 2 {
                reconstruction.copyChromaRow(y, count: (columns + 1) / 2, toPairs: chroma + y * pitch)
            }
            memoryIsStale = false
        }
        return storage
    }

    /// What the surface shows is not in its memory yet.
    var isWritten: Bool { memoryIsStale && !jobs.isEmpty }

    /// A picture is being reconstructed here: `picture` is what the surface shows from now on.
    func become(_ picture: ReconstructedPicture) {
        reconstruction = picture
        memoryIsStale = true
    }

    /// A client wrote into the memory: what was reconstructed here is gone.
    func clientWrote() {
        reconstruction = nil
        memoryIsStale = false
    }
}
