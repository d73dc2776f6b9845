/// The largest coded pictures that a level's least compression ratio (MinCR) allows: H.264 A.3.1, H.265 A.4.2. In bytes of NAL units.
///
/// A picture may have a share of what its samples take uncoded, of as many samples as the level decodes in the time since the picture
/// before it was decoded.
package struct PictureSizeLimit: Sendable, Hashable {
    /// Samples of a picture, and that the level decodes in a second: macroblocks in H.264, luma samples in H.265.
    private let samples: Double
    private let samplesPerSecond: Double
    /// Bytes that one of them may take.
    private let bytesPerSample: Double
    /// f_R: seconds from one picture to the next at least.
    private let leastTime: Double

    package init(samples: Int, samplesPerSecond: Int, bytesPerSample: Double, leastTime: Double) {
        self.samples = Double(samples)
        self.samplesPerSecond = Double(samplesPerSecond)
        self.bytesPerSample = bytesPerSample
        self.leastTime = leastTime
    }

    /// Of the stream's first picture, which no other comes before.
    package var first: Int { bytes(after: leastTime) }

    /// Of each later picture of a stream with that frame rate.
    package func later(frameRate: Rational) -> Int { bytes(after: 1 / frameRate.value) }

    private func bytes(after seconds: Double) -> Int {
        Int(saturating: bytesPerSample * max(samples, samplesPerSecond * seconds))
    }
}
