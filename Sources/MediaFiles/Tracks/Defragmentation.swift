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
    /// Gives the file its final name, as an ordinary MP4 or MOV where there is room for one.
    ///
    /// - Parameter amend: is called with the new file before it gets its name.
    ///
    /// - Returns: the size of what stands there, in bytes.
    static func commit(_ fragmented: OutputFile, format: OutputFormat, amend: (OutputFile) throws -> Void) throws -> Int {
        guard fragmented.partPath != nil else {
            try fragmented.commit()
            return fragmented.bytesWritten
        }
        let whole = try fragmented.successor()
        do {
            try copy(fragmented.reader(), to: whole, format: format)
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

    private static func copy(_ reader: ByteReader, to file: OutputFile, format: OutputFormat) throws {
        let input = try InputContext(reader)
        let av = unsafe input.av
        guard let destination = unsafe WriteContext(file, av) else { throw MediaTrack.noMemory }
        let muxer = try Muxer(format: format.muxerName, destination)
        var tracks: [MediaTrack] = []
        for index in 0..<Int(unsafe input.context.pointee.nb_streams) {
            let track = try input.track(index)
            tracks.append(track)
            _ = try muxer.add(track, timescale: Int32(clamping: track.timeBase.denominator))
        }
        try muxer.writeHeader(options: [])
        var packet = unsafe av.pointee.av_packet_alloc!()
        defer { unsafe av.pointee.av_packet_free!(&packet) }
        guard let scratch = unsafe packet else { throw TrackPacket.noMemory }
        while true {
            let reading = try unsafe input.read(scratch)
            if case .end = reading { break }
            if case .broken(let words) = reading {
                throw VaencError(.inputOutput, "reading \(reader.name) again failed (\(words))")
            }
            let index = unsafe Int(scratch.pointee.stream_index)
            guard tracks.indices.contains(index) else { continue }
            let one = unsafe try TrackPacket(taking: scratch, timeBase: tracks[index].timeBase, av)
            try muxer.write(one, track: index, origin: .zero)
        }
        try muxer.writeTrailer()
    }
}
