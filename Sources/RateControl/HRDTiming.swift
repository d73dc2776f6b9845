package import VideoBase

/// Computes the delays of buffering period SEI messages (H.264 Annex C and D) from the sizes of the access units.
///
/// Follows the pictures in coding order. Read `initialDelay` before a picture that begins a buffering period is
/// written. Then call `coded` with the size of its access unit, messages and filler included.
package struct HRDTiming: Sendable, Hashable {
    /// initial_cpb_removal_delay and initial_cpb_removal_delay_offset, in ticks of 90 kHz.
    package struct InitialDelay: Sendable, Hashable {
        package var delay: Int
        package var offset: Int
    }

    package private(set) var buffer: CodedPictureBuffer
    /// The number of access units that arrived too late for their decoding.
    package private(set) var underflowCount = 0

    /// Creates the timing of a stream before its first picture.
    ///
    /// - Parameters:
    ///   - bitrate: BitRate as signaled in the VUI, in bits per second.
    ///   - bufferSize: CpbSize as signaled in the VUI, in bits.
    ///   - initialFullness: The bits in the buffer when the first picture is decoded.
    ///   - minFillerBytes: The minimum size of the codec's filler NAL unit with its start code.
    package init(
        bitrate: Int, bufferSize: Int, initialFullness: Int, frameRate: Rational, isConstant: Bool,
        minFillerBytes: Int = 6
    ) {
        buffer = CodedPictureBuffer(
            rate: bitrate, size: bufferSize, initialFullness: initialFullness, frameRate: frameRate,
            isConstant: isConstant, minFillerBytes: minFillerBytes)
    }

    /// The delays of a buffering period that begins with the next picture. In the whole stream, their sum is the time
    /// in which the buffer fills (D.2.2).
    ///
    /// If the preceding pictures emptied the buffer, the delay is 1, the smallest value that the syntax allows.
    package var initialDelay: InitialDelay {
        let delay = max(buffer.removalDelay, 1)
        return InitialDelay(delay: delay, offset: max(buffer.sizeDelay - delay, 0))
    }

    /// Returns the filler bits to add to a next access unit of `bits` bits, for constant arrival.
    package func filler(afterBits bits: Int) -> Int { buffer.filler(afterBits: bits) }

    /// Accounts for the next access unit.
    ///
    /// - Parameter bits: The size of the access unit with its filler.
    /// - Returns: Whether the access unit arrived in time.
    @discardableResult
    package mutating func coded(bits: Int, beginsBufferingPeriod: Bool) -> Bool {
        if beginsBufferingPeriod { buffer.beginBufferingPeriod() }
        let holds = buffer.remove(bits: bits)
        if !holds { underflowCount += 1 }
        return holds
    }
}
