import CLibAV
import LibAV
package import VideoBase

/// Reads the packets of a container's video stream through libavformat, without decoding them. One thread reads; any
/// other thread may call `cancel`.
package final class PacketReader: Sendable {
    /// The container's description of the stream.
    package struct Info: Sendable {
        /// The codec; nil if it is neither H.264 nor HEVC.
        package var codec: VideoCodec?
        /// libavcodec's name of the codec.
        package var codecName: String
        /// The avcC or hvcC record, or parameter sets with start codes; empty if there are none.
        package var headers: [UInt8]
        /// libavformat's name of the format.
        package var container: String
        /// A notice about video streams that are not read; nil if there are none.
        package var notice: String?
    }

    /// The container's description of the stream.
    package let info: Info
    /// The remedy if the input cannot be read because it is a pipe; nil if it is not a pipe.
    let pipeRemedy: String?
    private let reader: ByteReader
    private let demuxer: Guarded<Demuxer>
    private let timeBase: Rational

    /// Opens the input.
    /// - Throws: `DescribedError`, as `MediaInput.open`.
    package convenience init(_ input: String) throws { try self.init(try ByteReader(path: input)) }

    init(_ reader: ByteReader) throws {
        self.reader = reader
        let demuxer = try Demuxer(reader)
        pipeRemedy = demuxer.pipeRemedy
        let parameters = unsafe demuxer.parameters.pointee
        let codec = unsafe VideoCodec(libavcodecID: parameters.codec_id)
        // SAFETY: the name is static. The headers belong to the demuxer, and are copied.
        info = unsafe Info(
            codec: codec, codecName: String(cString: demuxer.av.pointee.avcodec_get_name!(parameters.codec_id)!),
            headers: Array(UnsafeBufferPointer(start: parameters.extradata, count: Int(max(parameters.extradata_size, 0)))),
            container: demuxer.stream.container, notice: demuxer.notice)
        timeBase = demuxer.stream.timeBase
        self.demuxer = Guarded(demuxer)
    }

    /// The report about discontinuous times that were read so far; nil if there are none.
    var timesEntry: EffectiveEntry? { demuxer.withLock { $0.timesEntry } }

    /// Makes a running or later `next` throw `interrupted`. Any thread may call this.
    package func cancel() { reader.cancel() }

    /// The error for a file that is truncated or damaged.
    package struct Break: Error {
        /// A short description of the fault.
        package var words: String
    }

    /// Returns the next packet in coding order; nil at the end. Blocks on the file.
    /// - Throws: `Break`; the errors of reading the file.
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
