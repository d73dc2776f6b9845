import TestOracles
import Testing
import VideoBase

@testable import MediaFiles

/// A file that is cut anywhere is an error, even if libavformat reports an ordinary end. ffmpeg writes the files.
@Suite struct TruncationCheckTests {
    /// A container, and whether a cut between two of its parts is undetectable.
    struct Container: Sendable, CustomTestStringConvertible {
        var ending: String
        var options: [String]
        /// Whether a cut between two parts cannot be detected.
        var isOpenEnded = false
        var testDescription: String { ([ending] + options).joined(separator: " ") }
    }

    static let containers = [
        Container(ending: "mkv", options: []),
        Container(ending: "mkv", options: ["-live", "1", "-cluster_time_limit", "200"], isOpenEnded: true),
        Container(ending: "mp4", options: []),
        Container(ending: "mp4", options: ["-movflags", "+faststart"]),
        Container(
            ending: "mp4", options: ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"], isOpenEnded: true),
        Container(ending: "mov", options: ["-movflags", "+faststart"]),
    ]

    private static func write(_ container: Container, to path: String, size: String = "96x80") throws {
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=0.48", "-c:v", "libx264", "-preset", "ultrafast", "-g", "4",
                "-bf", "0",
            ] + container.options + [path])
    }

    private static func read(_ path: String) -> (count: Int, error: (category: ErrorCategory, message: String)?) {
        var count = 0
        let error = failure {
            let source = try MediaInput.open(path)
            while try source.next() != nil { count += 1 }
        }
        return (count, error)
    }

    @Test(arguments: containers) func everyCutIsDetected(_ container: Container) throws {
        try Files.withTemporaryFolder { folder in
            let whole = "\(folder)/whole.\(container.ending)"
            try Self.write(container, to: whole, size: "64x48")
            let bytes = try Files.read(whole)
            let all = Self.read(whole)
            #expect(all.count == 12 && all.error == nil)
            // Bytes after the end of the file are ignored.
            for suffix: [UInt8] in [[0], [UInt8](repeating: 0, count: 100), Array("\r\nmore\r\n".utf8)] {
                try Files.write(bytes + suffix, to: "\(folder)/long.\(container.ending)")
                #expect(Self.read("\(folder)/long.\(container.ending)").count == 12)
            }
            let cut = "\(folder)/cut.\(container.ending)"
            var unseen = 0
            let cuts = stride(from: 1, to: bytes.count, by: bytes.count / 40 + 1)
            for count in cuts {
                try Files.write(Array(bytes.prefix(count)), to: cut)
                let (pictures, error) = Self.read(cut)
                #expect(pictures < 12 || error != nil)
                if let error {
                    #expect(error.category == .badInput, "\(count): \(error.message)")
                } else {
                    unseen += 1
                }
            }
            #expect(unseen <= (container.isOpenEnded ? 2 : 0), "\(unseen) of \(cuts.underestimatedCount) cuts are not seen")
        }
    }
    /// A byte after the first picture is missing or changed: an error, or all pictures, and never fewer silently.
    /// (Pictures before the first decodable one are skipped, as in a joined stream.) In Matroska a changed byte may
    /// turn a block into an unknown element, which readers skip (RFC 8794 6.2).
    @Test(arguments: containers.filter { !$0.isOpenEnded }) func damageIsDetected(_ container: Container) throws {
        try Files.withTemporaryFolder { folder in
            let whole = "\(folder)/whole.\(container.ending)"
            try Self.write(container, to: whole)
            let bytes = try Files.read(whole)
            let damaged = "\(folder)/damaged.\(container.ending)"
            for offset in stride(from: 5000, to: bytes.count, by: bytes.count / 60 + 1) {
                for isMissing in container.ending == "mkv" ? [true] : [true, false] {
                    var changed = bytes
                    if isMissing { changed.remove(at: offset) } else { changed[offset] ^= 0xFF }
                    try Files.write(changed, to: damaged)
                    let (pictures, error) = Self.read(damaged)
                    let what = "byte \(offset) of \(bytes.count) \(isMissing ? "missing" : "changed")"
                    #expect(pictures >= 12 || error != nil, "\(what): \(pictures) pictures")
                }
            }
        }
    }

    /// In a transport stream, a cut inside any packet is detected.
    ///
    /// - Parameter size: The bytes of a packet: 192 in M2TS, 204 with the error correction of broadcasts.
    @Test(arguments: [188, 192, 204]) func transportStreamCutIsDetected(size: Int) throws {
        try Files.withTemporaryFolder { folder in
            let name = "\(folder)/whole.\(size == 192 ? "m2ts" : "ts")"
            let options = size == 192 ? ["-f", "mpegts", "-mpegts_m2ts_mode", "1"] : []
            try Self.write(Container(ending: "ts", options: options), to: name, size: "64x48")
            var bytes = try Files.read(name)
            if size == 204 {
                // ffmpeg does not write this form: 16 bytes follow each packet.
                let packets = stride(from: 0, to: bytes.count, by: 188).map { bytes[$0..<$0 + 188] }
                bytes = Array(packets.map { $0 + [UInt8](repeating: 0, count: 16) }.joined())
                try Files.write(bytes, to: name)
            }
            #expect(bytes.count % size == 0 && Self.read(name).count == 12 && Self.read(name).error == nil)
            for suffix: [UInt8] in [[0], [UInt8](repeating: 0, count: 100), Array("\r\nmore\r\n".utf8)] {
                try Files.write(bytes + suffix, to: name)
                #expect(Self.read(name).error == nil)
            }
            try Files.write(bytes[(size - 77)..<size] + bytes, to: name)
            #expect(Self.read(name).count == 12 && Self.read(name).error == nil)
            for packets in stride(from: bytes.count / size / 3, to: bytes.count / size, by: 5) {
                for more in [8, size / 2, size - 1] {
                    // A recording may begin inside a packet, too.
                    for first in [bytes[..<0], bytes[(size - 77)..<size]] {
                        try Files.write(first + Array(bytes.prefix(packets * size + more)), to: name)
                        #expect(Self.read(name).error?.category == .badInput, "\(first.count) bytes, \(packets) packets and \(more) bytes")
                    }
                }
            }
        }
    }
}
