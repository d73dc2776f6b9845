import Glibc
import VideoBase

extension RandomAccessTable {
    /// Adds the boxes that libavformat does not write to the movie box, which must be at the end of the file.
    func insert(into file: OutputFile, isQuickTime: Bool) throws {
        guard exceedsKeyFrames else { return }
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
                guard start + size == length,
                    let movie = try inserted(into: file.read(size, at: start), isQuickTime: isQuickTime)
                else { break }
                _ = try file.seek(to: start, whence: SEEK_SET)
                return try file.write(movie.span)
            }
            start += size
        }
        throw VaencError(.internalFault, "the index of \(file.path) does not have the expected structure")
    }
}
