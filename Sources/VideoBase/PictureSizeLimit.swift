/// The largest coded pictures that a level's minimum compression ratio (MinCR) allows (H.264 A.3.1, H.265 A.4.2), in
/// bytes of NAL units.
///
/// The limit is a fraction of the uncoded size of a number of samples. That number is what the level decodes in the
/// time since the previous picture was decoded, but at least the number of samples of one picture.
package struct PictureSizeLimit: Sendable, Hashable {
    /// The number of samples of a picture: macroblocks in H.264, luma samples in H.265.
    private let samples: Double
    /// The number of samples that the level decodes per second.
    private let samplesPerSecond: Double
    /// The number of bytes that one sample may take.
    private let bytesPerSample: Double
    /// The minimum time from one picture to the next in seconds, f_R.
    private let minTime: Double

    package init(samples: Int, samplesPerSecond: Int, bytesPerSample: Double, minTime: Double) {
        self.samples = Double(samples)
        self.samplesPerSecond = Double(samplesPerSecond)
        self.bytesPerSample = bytesPerSample
        self.minTime = minTime
    }

    /// The limit for the first picture of the stream, which has no previous picture.
    package var first: Int { bytes(after: minTime) }

    /// Returns the limit for each later picture of a stream with this frame rate.
    package func later(frameRate: Rational) -> Int { bytes(after: 1 / frameRate.value) }

    private func bytes(after seconds: Double) -> Int {
        Int(clamping: bytesPerSample * max(samples, samplesPerSecond * seconds))
    }
}
