import CLibAV
import Glibc
import LibAV
import VideoBase

/// The end of a recording: what was written in fragments, so that it could be killed at any time, becomes an ordinary file.
///
/// The media are copied once more. Rewriting the index in place would spare that, but a program killed, or a disk full, in
/// the middle of it would leave a file with two halves of an index; so the fragmented file stays as it is until the other is
/// whole, and takes its place if that cannot be made.
enum Defragmentation {
    /// What the fragmented file does not say.
    struct Content {
        var metadata: MediaMetadata
        /// The times of the metadata at which the media begin and end.
        var origin: MediaTime
        var end: MediaTime
    }

    /// Gives the file its final name, as an ordinary MP4 or MOV where there is room for one.
    ///
    /// - Parameter amend: is called with the new file before it gets its name.
    ///
    /// - Returns: the size of what stands there, in bytes.
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
            // No room for two: a fragmented file is a file too.
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
        var tracks: [(track: MediaTrack, place: Int?)] = []
        for index in 0..<Int(unsafe input.context.pointee.nb_streams) {
            let track = try input.track(index)
            // A time code's track is written from the metadata.
            let isMedia = track.kind == .video || track.kind == .audio
            let place = isMedia ? muxer.add(track, timescale: Int32(clamping: track.timeBase.denominator)) : nil
            tracks.append((track, place))
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
                throw VaencError(.inputOutput, "reading \(reader.name) again failed (\(words))", remedy: "check the disk that it is on")
            }
            let index = unsafe Int(scratch.pointee.stream_index)
            guard tracks.indices.contains(index) else { continue }
            let one = unsafe try TrackPacket(taking: scratch, timeBase: tracks[index].track.timeBase, av)
            if let place = tracks[index].place { try muxer.write(one, track: place, origin: .zero) }
        }
        try muxer.add(chaptersOf: content.metadata, from: content.origin, to: content.end)
        try muxer.writeTrailer()
    }
}
