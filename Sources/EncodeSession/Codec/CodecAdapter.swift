import EncodePlanning
import NALUnits
import VAAPI
import VideoBase

/// Converts a stream's settings and plans into a codec's headers, numbers and driver buffers. The surrounding code
/// (pipeline, surfaces, rate, recovery) is the same for every codec and uses only this protocol.
protocol CodecAdapter: Sendable {
    /// The parameter sets as NAL units without start codes, in stream order.
    var parameterSets: [[UInt8]] { get }

    /// The sequence parameter buffer, which is submitted with IDR pictures.
    var sequence: any ParameterBuffer { get }

    /// Assigns its numbers to the next picture in coding order.
    mutating func number(_ plan: FramePlan) -> any PictureSyntax

    /// Returns the NAL units that precede a picture's slices.
    ///
    /// - Parameter delay: The removal delay if a buffering period begins with the picture; nil signals a full decoder
    ///   buffer.
    func leading(
        _ plan: FramePlan, options: FrameOptions, clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> LeadingUnits

    /// Returns `sets` with the driver's own parameter sets inserted, because the driver's slices refer to those. They
    /// combine the driver's coding description with our cropping and VUI. A driver's set that cannot describe our
    /// picture is used as it is.
    func adopting(_ driverSets: [NALUnitKind: [UInt8]], into sets: [[UInt8]]) -> [[UInt8]]
}

/// A picture with its codec's numbers. A picture that is encoded again keeps its numbers.
protocol PictureSyntax: Sendable {
    /// The NAL unit that precedes each slice; nil for none.
    var prefix: [UInt8]? { get }

    /// Adds the picture parameter buffer.
    func renderParameters(_ reconstructions: [Surface], _ output: CodedBuffer, into picture: inout Picture) throws(VAError)

    /// Adds the slices' parameter buffers in the order of the settings.
    ///
    /// - Parameter packed: Whether a packed slice header precedes each of them.
    func renderSlices(qp: Int, _ reconstructions: [Surface], packed: Bool, into picture: inout Picture) throws(VAError)
}

extension EncodeSettings {
    /// Returns the adapter of the stream's codec.
    ///
    /// - Throws: `internalFault` if the tools and the level are of different codecs.
    func adapter() throws -> any CodecAdapter {
        switch (tools, level) {
        case (.h264(let tools), .h264(let level, _)): H264Adapter(self, tools, level)
        case (.hevc(let tools), .hevc(let level, let tier)): HEVCAdapter(self, tools, level, tier)
        case (.h264, .hevc), (.hevc, .h264):
            throw VaencError(.internalFault, "the settings have the tools of one codec and the level of another")
        }
    }
}
