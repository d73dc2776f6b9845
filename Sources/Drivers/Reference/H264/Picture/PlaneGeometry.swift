/// The memory layout of a picture's planes: four luma planes (whole samples and the three half-sample positions) and
/// one plane of interleaved chroma. Each plane has a margin that repeats its border samples.
package struct PlaneGeometry: Sendable {
    /// The margin of a luma plane in samples. Motion vectors go up to 24 samples outside the picture, and the
    /// interpolation filter reads 3 more.
    package static let margin = 32
    /// The number of chroma rows above and below the picture. The margins to the left and right have as many bytes as
    /// in luma.
    package static let chromaMargin = 16

    package let width: Int
    package let height: Int
    /// Bytes between rows, in every plane.
    package let stride: Int

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        width = widthInMacroblocks * 16
        height = heightInMacroblocks * 16
        let stride = width + 2 * Self.margin
        // If rows were a multiple of 1024 bytes apart, they would share the same cache sets.
        self.stride = stride % 1024 == 0 ? stride + 64 : stride
    }

    /// The size of one luma plane with its margins, in bytes.
    package var lumaPlaneBytes: Int { (height + 2 * Self.margin) * stride }
    /// The size of all planes in bytes. It includes 64 bytes because vector loads may read beyond the end of the last
    /// row.
    package var byteCount: Int { 4 * lumaPlaneBytes + (height / 2 + 2 * Self.chromaMargin) * stride + 64 }
}

/// The planes of one picture. Each pointer refers to the sample (0, 0).
package struct ReferencePlanes: BitwiseCopyable, Sendable {
    package let luma: ElementPointer<UInt8>
    /// The distance in bytes between a luma sample and the same sample of the next plane. The planes of the half-sample
    /// positions b (right), h (below) and j (both) of H.264 figure 8-4 follow in this order.
    package let planeBytes: Int
    /// The interleaved Cb and Cr samples.
    package let chroma: ElementPointer<UInt8>

    package init(_ geometry: PlaneGeometry, _ base: ElementPointer<UInt8>) {
        let margin = PlaneGeometry.margin
        luma = base + (margin * geometry.stride + margin)
        planeBytes = geometry.lumaPlaneBytes
        chroma = base + (4 * geometry.lumaPlaneBytes + PlaneGeometry.chromaMargin * geometry.stride + margin)
    }

    package var right: ElementPointer<UInt8> { luma + planeBytes }
    package var below: ElementPointer<UInt8> { luma + 2 * planeBytes }
    package var both: ElementPointer<UInt8> { luma + 3 * planeBytes }
}
