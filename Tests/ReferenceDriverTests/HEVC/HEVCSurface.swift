import ReferenceDriver
import TestOracles

/// A frame as a client's surface: NV12 or P010.
struct HEVCSurface {
    private let luma: ElementStorage<UInt8>
    private let chroma: ElementStorage<UInt8>
    let source: HEVCSource

    init(_ frame: PlanarFrame) {
        let size = frame.bytesPerSample
        let count = frame.width * frame.height
        luma = ElementStorage(count: count * size, repeating: 0)
        chroma = ElementStorage(count: count / 2 * size, repeating: 0)
        func put(_ elements: ElementPointer<UInt8>, _ offset: Int, _ index: Int) {
            if size == 1 {
                elements[offset] = frame.bytes[index]
            } else {
                let value = (UInt16(frame.bytes[2 * index]) | UInt16(frame.bytes[2 * index + 1]) << 8) << 6
                elements[2 * offset] = UInt8(truncatingIfNeeded: value)
                elements[2 * offset + 1] = UInt8(value >> 8)
            }
        }
        for i in 0..<count { put(luma.elements, i, i) }
        for i in 0..<count / 4 {
            put(chroma.elements, 2 * i, count + i)
            put(chroma.elements, 2 * i + 1, count + count / 4 + i)
        }
        source = HEVCSource(
            luma: luma.elements, chroma: chroma.elements, lumaPitch: frame.width * size, chromaPitch: frame.width * size,
            width: frame.width, height: frame.height, isP010: size == 2)
    }
}
