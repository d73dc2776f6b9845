internal import CVA

/// A VA surface. It has memory, a reconstructed picture, or both. The display's monitor guards it.
///
/// The memory is allocated at the first use, or belongs to the client.
final class Surface {
    let id: VASurfaceID
    let layout: PlaneLayout

    private var storage: HostMemory?
    /// The picture that was last reconstructed in this surface, or nil after something else was written into it.
    var reconstruction: Reconstruction?
    /// Whether the reconstruction is newer than the memory.
    private var memoryIsStale = false
    /// The mark of the last decoded picture, or nil if something else was written after it.
    private(set) var mark: DecodeMark?
    /// Whether the last decoded picture has errors.
    var isDamaged = false
    /// Whether the decoder did not have enough memory for the last picture.
    var lacksMemory = false
    /// The error records that vaQuerySurfaceError returns.
    let errorList = DecodeErrorList()
    /// The unfinished jobs that read or write this surface.
    var jobs: [Job] = []
    /// The number of existing images that are derived from this surface.
    var derivedImages = 0
    /// The number of derived images that are mapped.
    var mappings = 0
    /// Whether clients have file descriptors of the memory. The memory must then be up to date whenever the surface is
    /// idle.
    var isExported = false

    init(id: VASurfaceID, format: SurfaceFormat, width: Int, height: Int) {
        self.id = id
        layout = PlaneLayout(format: format, width: width, height: height)
    }

    /// Creates a surface in the client's memory.
    init(id: VASurfaceID, layout: PlaneLayout, memory: HostMemory) {
        self.id = id
        self.layout = layout
        storage = memory
    }

    var format: SurfaceFormat { layout.format }
    var width: Int { layout.width }
    var height: Int { layout.height }
    /// Whether the format is P010: two bytes per sample, little-endian, with the value in the high 10 bits.
    var isWide: Bool { layout.isWide }

    /// The shared objects of the memory. The CPU's accesses to them must be between `beginAccess` and `endAccess`.
    var sharedObjects: [SharedObject] { storage?.objects ?? [] }

    /// Returns the memory, with the current contents of the surface. Allocates the memory at the first call.
    ///
    /// No job may be writing the reconstruction during the call.
    func memory() throws -> HostMemory {
        if storage == nil {
            // If there is no free file descriptor, private memory is used. It supports everything except export.
            let shared = SharedObject(byteCount: layout.byteCount).flatMap { HostMemory(objects: [$0]) }
            storage = shared ?? HostMemory(byteCount: layout.byteCount)
        }
        guard let storage else { throw Refusal.allocation("no memory for a \(width)x\(height) surface") }
        if memoryIsStale, let reconstruction {
            let luma = storage.elements(at: layout.offsets[0])
            let chroma = storage.elements(at: layout.offsets[1])
            let columns = min(width, reconstruction.width)
            let rows = min(height, reconstruction.height)
            let storage = ElementStorage<UInt8>(count: 2 * (columns + 1), repeating: 0)
            defer { withExtendedLifetime(storage) {} }
            let samples = storage.elements
            for y in 0..<rows {
                reconstruction.copyLumaRow(y, count: columns, to: samples)
                put(samples, isWide: reconstruction.isWide, to: luma + y * layout.pitches[0], count: columns)
            }
            for y in 0..<(rows + 1) / 2 {
                reconstruction.copyChromaRow(y, count: (columns + 1) / 2, toPairs: samples)
                put(
                    samples, isWide: reconstruction.isWide, to: chroma + y * layout.pitches[1],
                    count: (columns + 1) & ~1)
            }
            memoryIsStale = false
        }
        return storage
    }

    /// Stores a row of samples in the surface's bit depth.
    ///
    /// - Parameter areWide: Whether `samples` are words with 10-bit values; otherwise they are bytes.
    private func put(_ samples: ElementPointer<UInt8>, isWide areWide: Bool, to row: ElementPointer<UInt8>, count: Int) {
        if !areWide && !isWide { return row.copy(from: samples, count: count) }
        for index in 0..<count {
            let value = areWide ? samples.load(2 * index, as: UInt16.self).littleEndian : UInt16(samples[index]) << 2
            if isWide {
                row.store(2 * index, (value << 6).littleEndian)
            } else {
                row[index] = UInt8(truncatingIfNeeded: value >> 2)
            }
        }
    }

    /// Whether jobs are pending on a surface whose memory is older than its reconstruction.
    var isWritten: Bool { memoryIsStale && !jobs.isEmpty }

    /// Makes `picture` the contents of the surface. Call when a job that reconstructs it is queued.
    func become(_ picture: Reconstruction) {
        reconstruction = picture
        memoryIsStale = true
        mark = nil
        (isDamaged, lacksMemory) = (false, false)
    }

    /// Marks the surface as decoded. Call when a job that decodes into the memory is queued.
    ///
    /// - Parameter continues: Whether the job decodes the second field of a frame. The errors of the first field are
    ///   then preserved.
    func isDecoded(_ mark: DecodeMark, continues: Bool) {
        let (wasDamaged, lackedMemory) = (continues && isDamaged, continues && lacksMemory)
        clientWrote()
        self.mark = mark
        (isDamaged, lacksMemory) = (wasDamaged, lackedMemory)
    }

    /// Discards the reconstruction and the mark. Call when the memory is written by a client, a decoder or the video
    /// processor.
    func clientWrote() {
        reconstruction = nil
        memoryIsStale = false
        mark = nil
        (isDamaged, lacksMemory) = (false, false)
    }
}
