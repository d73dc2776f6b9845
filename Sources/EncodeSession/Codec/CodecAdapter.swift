import EncodePlanning
import NALUnits
import VAAPI
import VideoBase

/// What a codec makes of a stream's settings and plans: headers, numbers, and the buffers that say them to a driver.
/// What is around it (pipeline, surfaces, rate, recovery) is the same for every codec, and speaks to it through this.
protocol CodecAdapter: Sendable {
    /// NAL units without start codes, in the order of a stream.
    var parameterSets: [[UInt8]] { get }

    /// The sequence's buffer, which goes with IDR pictures.
    var sequence: any PictureParameters { get }

    /// Gives the next picture in coding order its numbers.
    mutating func number(_ plan: FramePlan) -> any PictureSyntax

    /// The NAL units that go before a picture's slices.
    ///
    /// - Parameter delay: how full the decoder's buffer is where a buffering period begins; nil takes all of it.
    func leading(
        _ plan: FramePlan, _ options: FrameOptions, _ clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> LeadingUnits

    /// `parameterSets` with those in place that the driver's slices are written for, as far as they hold our picture:
    /// our cropping and VUI behind its description of how the pictures are coded.
    func adopting(_ driverSets: [NALUnitKind: [UInt8]], into sets: [[UInt8]]) -> [[UInt8]]
}

/// A picture with its codec's numbers: what is encoded again is numbered once.
protocol PictureSyntax: Sendable {
    /// The unit that goes before each of its slices; nil for none.
    var prefix: [UInt8]? { get }

    /// The picture's buffer.
    func picture(_ reconstructions: [Surface], _ output: CodedBuffer) -> any PictureParameters

    /// One for each of the settings' slices, in order.
    ///
    /// - Parameter packed: with headers.
    func slices(qp: Int, _ reconstructions: [Surface], packed: Bool) -> [NumberedSlice]
}

/// A slice's header, ready made where the driver takes it, and its buffer.
struct NumberedSlice {
    var header: PackedHeader?
    var parameters: any PictureParameters
}

extension EncodeSettings {
    /// How the stream's codec writes it.
    func adapter() -> any CodecAdapter {
        switch tools {
        case .h264(let tools): H264Adapter(self, tools)
        case .hevc(let tools): HEVCAdapter(self, tools)
        }
    }
}
