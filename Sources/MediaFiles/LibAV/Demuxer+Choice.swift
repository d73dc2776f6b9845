import CLibAV
import LibAV
import VideoBase

/// The choice of the video stream that is read.
extension Demuxer {
    private struct Candidate {
        var index: Int
        var score: Int64
        var words: String
    }

    /// Returns the video streams with their scores. As in the ffmpeg program, the score depends on received packets,
    /// the default disposition and the number of samples. Attached pictures are not video.
    private static func videoStreams(_ input: InputContext) -> [Candidate] {
        (0..<Int(unsafe input.context.pointee.nb_streams)).compactMap { index in
            let stream = unsafe input.context.pointee.streams[index]!
            let parameters = unsafe stream.pointee.codecpar!
            guard unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO,
                unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
            else { return nil }
            let (width, height) = unsafe (Int64(parameters.pointee.width), Int64(parameters.pointee.height))
            var score = width.multipliedReportingOverflow(by: height).partialValue
            if unsafe stream.pointee.event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS != 0 { score += 100_000_000 }
            if unsafe stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0 { score += 5_000_000 }
            return Candidate(index: index, score: score, words: "\(index) (\(width)×\(height))")
        }
    }

    static func othersNotice(_ input: InputContext, taken: Int) -> String? {
        let streams = videoStreams(input)
        guard streams.count > 1, let chosen = streams.first(where: { $0.index == taken }) else { return nil }
        let others = streams.filter { $0.index != taken }.map(\.words).joined(separator: ", ")
        return "\(input.name) has \(streams.count) video streams: vaenc reads \(chosen.words) and ignores \(others)"
    }

    /// Returns the sound streams in the file's order: the best stream, and every other whose header describes its
    /// format.
    static func soundStreams(_ input: InputContext, best: Int) -> [Int] {
        (0..<Int(unsafe input.context.pointee.nb_streams)).filter { index in
            let parameters = unsafe input.context.pointee.streams[index]!.pointee.codecpar!
            guard unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO else { return false }
            if index == best { return true }
            return unsafe parameters.pointee.codec_id != AV_CODEC_ID_NONE && parameters.pointee.sample_rate > 0
                && parameters.pointee.ch_layout.nb_channels > 0
        }
    }

    /// Returns the index of the stream to read, and its decoder; nil if there is no video. The first of several best
    /// streams is chosen.
    /// - Throws: `badInput` if the file is truncated or damaged; `unavailable` if libavcodec has no decoder.
    static func findVideo(_ input: InputContext, _ decoder: inout UnsafePointer<AVCodec>?) throws -> Int? {
        let av = unsafe input.av
        guard let index = videoStreams(input).max(by: { $0.score < $1.score || ($0.score == $1.score && $0.index > $1.index) })?.index
        else { return nil }
        let parameters = unsafe input.context.pointee.streams[index]!.pointee.codecpar!
        let codec = unsafe parameters.pointee.codec_id
        unsafe decoder = av.pointee.avcodec_find_decoder!(codec)
        if unsafe decoder == nil {
            if input.endsEarly { throw InputContext.unreadable(input.name, InputContext.cut) }
            if codec == AV_CODEC_ID_NONE {
                throw InputContext.unreadable(input.name, "libavformat does not know the codec of its video")
            }
            let codecName = unsafe String(cString: av.pointee.avcodec_get_name!(codec)!)
            throw VaencError(
                .unavailable, "libavcodec has no decoder for the \(codecName) video of \(input.name)",
                remedy: "convert it to another codec first, or install a libavcodec that includes it")
        }
        if unsafe parameters.pointee.width <= 0 || parameters.pointee.height <= 0 {
            if input.endsEarly { throw InputContext.unreadable(input.name, InputContext.cut) }
            throw InputContext.unreadable(input.name, LibAV.takeLog() ?? "its video has no size")
        }
        return index
    }
}
