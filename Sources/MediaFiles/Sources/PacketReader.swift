import CLibAV
import LibAV
package import VideoBase

/// The packets of a container's video stream, as libavformat gives them, undecoded. One thread reads; `cancel` may come
/// from any other.
package final class PacketReader: Sendable {
    /// What the container says of the stream.
    package struct Info: Sendable {
        /// nil for what is neither H.264 nor HEVC.
        package var codec: VideoCodec?
        /// libavcodec's name.
        package var codecName: String
        /// avcC, hvcC, or parameter sets behind start codes; empty for none.
        package var headers: [UInt8]
        /// libavformat's name of the format.
        package var container: String
        /// Of streams that are left.
        package var notice: String?
    }

    package let info: Info
    /// What to do where the input cannot be read because it is a pipe; nil: it is none.
    let pipeRemedy: String?
    private let reader: ByteReader
    private let demuxer: Guarded<Demuxer>
    private let timeBase: Rational

    /// - Throws: `DescribedError`, as `MediaInput.open`.
    package convenience init(_ input: String) throws { try self.init(try ByteReader(path: input)) }

    init(_ reader: ByteReader) throws {
        self.reader = reader
        let demuxer = try Demuxer(reader)
        pipeRemedy = demuxer.pipeRemedy
        let parameters = unsafe demuxer.parameters.pointee
        let codec = unsafe VideoCodec(libavcodecID: parameters.codec_id)
        // SAFETY: the name is static; the headers are the demuxer's, and copied.
        info = unsafe Info(
            codec: codec, codecName: String(cString: demuxer.av.pointee.avcodec_get_name!(parameters.codec_id)!),
            headers: Array(UnsafeBufferPointer(start: parameters.extradata, count: Int(max(parameters.extradata_size, 0)))),
            container: demuxer.stream.container, notice: demuxer.notice)
        timeBase = demuxer.stream.timeBase
        self.demuxer = Guarded(demuxer)
    }

    /// What is reported of times that jump, as far as they were read; nil where none do.
    var timesEntry: EffectiveEntry? { demuxer.withLock { $0.timesEntry } }

    /// Makes a running or later `next` throw `interrupted`.
    package func cancel() { reader.cancel() }

    /// Where the file breaks off or is damaged.
    package struct Break: Error {
        /// In a few words.
        package var words: String
    }

    /// The next packet, in coding order; nil at the end. Blocks on the file.
    /// - Throws: `Break`.
    package func next() throws -> TrackPacket? {
        try demuxer.withLock { demuxer -> TrackPacket? in
            let av = unsafe demuxer.av
            var packet = unsafe av.pointee.av_packet_alloc!()
            defer { unsafe av.pointee.av_packet_free!(&packet) }
            guard let filled = unsafe packet else { throw TrackPacket.noMemory }
            switch unsafe try demuxer.read(filled) {
            case .packet: return unsafe try TrackPacket(taking: filled, timeBase: timeBase, av)
            case .end: return nil
            case .broken(let words): throw Break(words: words)
            }
        }
    }
}
