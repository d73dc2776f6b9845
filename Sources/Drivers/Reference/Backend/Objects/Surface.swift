internal import CVA

/// A VA surface: memory that takes room when first used, or is a client's, or a reconstructed picture, or both.
/// Guarded by the display's monitor.
final class Surface {
    let id: VASurfaceID
    let layout: PlaneLayout

    private var storage: HostMemory?
    /// What the last picture that was reconstructed here left; nil after a client wrote into the surface.
    var reconstruction: Reconstruction?
    /// The reconstruction is newer than the memory.
    private var memoryIsStale = false
    /// What a decoder left here, if it was the last to write.
    private(set) var mark: DecodeMark?
    /// What was decoded here last is not all that was encoded.
    var isDamaged = false
    /// That is for lack of memory.
    var lacksMemory = false
    /// For clients that ask what is wrong.
    let errorList = DecodeErrorList()
    /// Jobs that read or write this surface and are not done.
    var jobs: [Job] = []
    /// Images derived from this surface that are not destroyed.
    var derivedImages = 0
    /// Of those, the ones that are mapped.
    var mappings = 0
    /// Clients have descriptors of the memory: it holds what the surface shows whenever the surface is idle.
    var isExported = false

    init(id: VASurfaceID, format: SurfaceFormat, width: Int, height: Int) {
        self.id = id
        layout = PlaneLayout(format: format, width: width, height: height)
    }

    /// In a client's memory.
    init(id: VASurfaceID, layout: PlaneLayout, memory: HostMemory) {
        self.id = id
        self.layout = layout
        storage = memory
    }

    var format: SurfaceFormat { layout.format }
    var width: Int { layout.width }
    var height: Int { layout.height }
    /// P010: two bytes to a sample, little-endian, the value in the high 10 bits.
    var isWide: Bool { layout.isWide }

    /// What is to be told before and after the processor looks at the memory.
    var sharedObjects: [SharedObject] { storage?.objects ?? [] }

    /// The memory, holding what the surface shows. No job may be writing the reconstruction.
    func memory() throws -> HostMemory {
        if storage == nil {
            // Without descriptors left, it cannot be exported, and serves for all else.
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

    /// Stores a row of bytes, or of words of 10 bits, in the surface's format.
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

    /// What the surface shows is not in its memory yet.
    var isWritten: Bool { memoryIsStale && !jobs.isEmpty }

    /// A picture is being reconstructed here: `picture` is what the surface shows from now on.
    func become(_ picture: Reconstruction) {
        reconstruction = picture
        memoryIsStale = true
        mark = nil
        (isDamaged, lacksMemory) = (false, false)
    }

    /// A picture is being decoded into the memory, or its second field.
    func isDecoded(_ mark: DecodeMark, continues: Bool) {
        let (wasDamaged, lackedMemory) = (continues && isDamaged, continues && lacksMemory)
        clientWrote()
        self.mark = mark
        (isDamaged, lacksMemory) = (wasDamaged, lackedMemory)
    }

    /// A client wrote into the memory: what was reconstructed or decoded here is gone.
    func clientWrote() {
        reconstruction = nil
        memoryIsStale = false
        mark = nil
        (isDamaged, lacksMemory) = (false, false)
    }
}
