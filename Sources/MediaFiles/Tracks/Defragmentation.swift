import CLibAV
import Glibc
import LibAV
import VideoBase

/// The end of a recording. The fragmented file, which could be killed at any time, becomes an ordinary file.
///
/// The media are copied once more. Rewriting the index in place would avoid the copy. But if the program were killed or
/// the disk became full meanwhile, the file would have an incomplete index. So the fragmented file stays unchanged
/// until the ordinary file is complete. If the ordinary file cannot be written, the fragmented one gets the final name.
enum Defragmentation {
    /// The information that the fragmented file does not contain.
    struct Content {
        var metadata: MediaMetadata
        /// The time at which the media begin, on the metadata's timeline.
        var origin: MediaTime
        /// The time at which the media end, on the same timeline.
        var end: MediaTime
    }

    /// Completes the file as an ordinary MP4 or MOV if there is room for one, and gives it its final name.
    ///
    /// - Parameter amend: Called with the new file before it gets its name.
    /// - Returns: The size of the final file in bytes.
    static func commit(
        _ fragmented: OutputFile, format: OutputFormat, _ content: Content, amend: (OutputFile) throws -> Void
    ) throws -> Int {
        guard fragmented.partPath != nil else {
            try fragmented.commit()
            return fragmented.bytesWritten
        }
        let whole = try fragmented.successor()
        do {
            try copy(fragmented.reader(), to: whole, format: format, content)
            try amend(whole)
            try whole.commit()
        } catch let error as any DescribedError where error.category == .inputOutput {
            // There is no room for two files, so the fragmented file is used.
            whole.cancel()
            try fragmented.commit()
            return fragmented.bytesWritten
        }
        fragmented.cancel()
        return whole.bytesWritten
    }

    private static func copy(
        _ reader: ByteReader, to file: OutputFile, format: OutputFormat, _ content: Content
    ) throws {
        let input = try InputContext(reader)
        let av = unsafe input.av
        guard let destination = unsafe WriteContext(file, av) else { throw MediaTrack.noMemory }
        let muxer = try Muxer(format: format.muxerName, destination)
        var tracks: [(track: MediaTrack, outputIndex: Int?)] = []
        for index in 0..<Int(unsafe input.context.pointee.nb_streams) {
            let track = try input.track(index)
            // The muxer writes a time code's track from the metadata.
            let isMedia = track.kind == .video || track.kind == .audio
            let outputIndex = isMedia ? muxer.add(track, timescale: Int32(clamping: track.timeBase.denominator)) : nil
            tracks.append((track, outputIndex))
        }
        try muxer.describe(content.metadata)
        try muxer.writeHeader(options: [])
        var packet = unsafe av.pointee.av_packet_alloc!()
        defer { unsafe av.pointee.av_packet_free!(&packet) }
        guard let scratch = unsafe packet else { throw TrackPacket.noMemory }
        while true {
            let reading = try unsafe input.read(scratch)
            if case .end = reading { break }
            if case .broken(let words) = reading {
                throw VaencError(
                    .inputOutput, "reading \(reader.name) again failed (\(words))",
                    remedy: "check the disk")
            }
            let index = unsafe Int(scratch.pointee.stream_index)
            guard tracks.indices.contains(index) else { continue }
            let one = unsafe try TrackPacket(taking: scratch, timeBase: tracks[index].track.timeBase, av)
            if let outputIndex = tracks[index].outputIndex { try muxer.write(one, track: outputIndex, origin: .zero) }
        }
        try muxer.add(chaptersOf: content.metadata, from: content.origin, to: content.end)
        try muxer.writeTrailer()
    }
}
