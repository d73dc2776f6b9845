import Glibc
import NALUnits
import VideoBase

/// The movie box (`moov`) of an MP4 or MOV file that libavformat has written, at the end of the file.
enum MovieBox {
    /// Replaces the movie box of a file.
    ///
    /// - Parameter body: Returns the new box; nil if the old one does not have the expected structure.
    static func edit(_ file: OutputFile, _ body: ([UInt8]) -> [UInt8]?) throws {
        let length = try file.length()
        var start = 0
        while start + 16 <= length {
            let header = try file.read(16, at: start)
            func number(_ range: Range<Int>) -> Int { header[range].reduce(0) { $0 << 8 | Int($1) } }
            // Size 1 means that a 64-bit size follows the name.
            let size = number(0..<4) == 1 ? number(8..<16) : number(0..<4)
            guard size >= 8, size <= length - start else { break }
            if header[4..<8].elementsEqual("moov".utf8) {
                // The boxes are copied into each other, up to the outermost one.
                try MemoryTrial.require(6 * size, "to complete the index of \(file.path)")
                guard start + size == length, let movie = try body(file.read(size, at: start)) else { break }
                _ = try file.seek(to: start, whence: SEEK_SET)
                return try file.write(movie.span)
            }
            start += size
        }
        throw VaencError(.internalFault, "the index of \(file.path) does not have the expected structure")
    }

    /// Returns a movie box whose HEVC tracks have the sample entry `hev1` instead of `hvc1`, which allows parameter sets
    /// in samples (ISO/IEC 14496-15 8.4.1); nil if it does not have the expected structure.
    static func withParameterSetsInSamples(_ movie: [UInt8]) -> [UInt8]? {
        var movie = movie
        return allowParameterSets(in: 0..<movie.count, of: &movie) ? movie : nil
    }

    /// Changes the sample entries of the boxes at `range`. Returns whether the boxes are well-formed.
    private static func allowParameterSets(in range: Range<Int>, of movie: inout [UInt8]) -> Bool {
        var start = range.lowerBound
        while start + 8 <= range.upperBound {
            let size = movie[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= range.upperBound - start else { return false }
            let box = start..<start + size
            // `stsd` begins with its version and the number of entries, and a visual sample entry with 78 bytes.
            let headers = ["moov": 8, "trak": 8, "mdia": 8, "minf": 8, "stbl": 8, "stsd": 16, "hvc1": 86]
            let name = String(decoding: movie[start + 4..<start + 8], as: UTF8.self)
            if name == "hvcC" { HEVCDecoderConfigurationRecord.setComplete(false, in: &movie, box.dropFirst(8)) }
            if let header = headers[name] {
                guard header <= size, allowParameterSets(in: box.dropFirst(header), of: &movie) else { return false }
                if name == "hvc1" { movie.replaceSubrange(start + 4..<start + 8, with: "hev1".utf8) }
            }
            start = box.upperBound
        }
        return true
    }
}
