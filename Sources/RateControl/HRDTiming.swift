package import VideoBase

/// The delays that a stream's buffering period and picture timing messages say, H.264 Annex C and D, from the access
/// units' sizes.
///
/// Follows the pictures in coding order: `initialDelay` before a picture that begins a buffering period is written,
/// then `coded` with the size of its access unit, messages and filler included.
package struct HRDTiming: Sendable, Hashable {
    /// initial_cpb_removal_delay and its offset, in ticks of 90 kHz.
    package struct InitialDelay: Sendable, Hashable {
        package var delay: Int
        package var offset: Int
    }

    package private(set) var buffer: CodedPictureBuffer
    /// Access units that came too late for their decoding.
    package private(set) var underflowCount = 0

    /// - Parameters:
    ///   - bitrate, bufferSize: BitRate and CpbSize as the VUI says them.
    ///   - initialFullness: bits.
    ///   - leastFillerBytes: of the codec's filler NAL unit with its start code.
    package init(
        bitrate: Int, bufferSize: Int, initialFullness: Int, frameRate: Rational, isConstant: Bool,
        leastFillerBytes: Int = 6
    ) {
        buffer = CodedPictureBuffer(
            rate: bitrate, size: bufferSize, initialFullness: initialFullness, frameRate: frameRate,
            isConstant: isConstant, leastFillerBytes: leastFillerBytes)
    }

    /// For a buffering period that begins with the next picture. The sum of both is the same for all of a stream
    /// (D.2.2): the time in which the buffer fills.
    ///
    /// A picture after too much was coded finds the buffer empty: the delay is then the least that may be said, 1.
    package var initialDelay: InitialDelay {
        let delay = max(buffer.removalDelay, 1)
        return InitialDelay(delay: delay, offset: max(buffer.sizeDelay - delay, 0))
    }

    /// Bits that must be added to the next access unit of so many, for constant arrival.
    package func filler(afterBits bits: Int) -> Int { buffer.filler(afterBits: bits) }

    /// The next access unit, of so many bits.
    ///
    /// - Returns: whether it kept to the buffer.
    @discardableResult
    package mutating func coded(bits: Int, beginsBufferingPeriod: Bool) -> Bool {
        if beginsBufferingPeriod { buffer.beginBufferingPeriod() }
        let holds = buffer.remove(bits: bits)
        if !holds { underflowCount += 1 }
        return holds
    }
}
