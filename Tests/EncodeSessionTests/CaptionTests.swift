import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// ffprobe and FFmpeg's caption decoder read the captions and messages that a frame carries.
@Suite struct CaptionTests {
    /// Returns a pair of EIA-608 bytes for field 1, with odd parity, as cc_data of A/53.
    private func pair(_ a: UInt8, _ b: UInt8) -> [UInt8] {
        [0xFC] + [a, b].map { $0.nonzeroBitCount % 2 == 0 ? $0 | 0x80 : $0 }
    }

    /// The captions; controls occur twice, as in broadcasts: pop-on mode, erase the memory, row 15, the text, display
    /// it.
    private var captions: [[UInt8]] {
        func twice(_ a: UInt8, _ b: UInt8) -> [[UInt8]] { [pair(a, b), pair(a, b)] }
        return twice(0x14, 0x20) + twice(0x14, 0x2E) + twice(0x14, 0x70)
            + [pair(0x48, 0x45), pair(0x4C, 0x4C), pair(0x4F, 0x21)] + twice(0x14, 0x2F)
    }

    private func write<R>(_ packets: [EncodedPacket], _ body: (String) throws -> R) throws -> R {
        try Files.withTemporaryFolder { folder in
            try Files.write(packets.stream, to: folder + "/a.h264")
            return try body(folder + "/a.h264")
        }
    }

    /// Returns what ffprobe reports of each frame, in display order.
    private func sideData(_ path: String) throws -> [Substring] {
        try ProcessRunner.run(
            "ffprobe",
            ["-v", "error", "-show_entries", "frame=pict_type:side_data=side_data_type", "-of", "compact", path]
        ).output.split(separator: "\n").filter { $0.hasPrefix("frame|") }
    }

    @Test(arguments: [0, 3]) func captionsAreReadableWithAndWithoutBFrames(bFrames: Int) throws {
        let captions = captions
        let packets = try TestSession.run(
            frames: 40,
            options: { index in
                var options = FrameOptions()
                if index < captions.count { options.captions = captions[index] }
                if index == 30 { options.captions = pair(0x14, 0x2C) }
                return options
            }
        ) { $0.structure.bFrames = bFrames }
        try write(packets) { path in
            // The caption decoder needs timestamps, which a raw stream lacks; so the stream is decoded and encoded by
            // x264.
            let timed = path + ".mkv"
            let copy = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-r", "30", "-i", path, "-c:v", "libx264", "-preset", "ultrafast", timed])
            #expect(copy.status == 0, "\(copy.errors)")
            let text = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "movie=\(timed)[out+subcc]", "-map", "0:s", "-f", "srt",
                    "-",
                ])
            #expect(text.status == 0 && text.output.contains("HELLO!"), "\(text.errors)")
            let lines = try sideData(path).map { $0.components(of: "ATSC A53 Part 4 Closed Captions") }
            #expect(lines == (0..<40).map { $0 < captions.count || $0 == 30 ? 1 : 0 })
        }
    }

    /// If the messages need more bytes than the pictures' coded buffers hold, larger buffers are made.
    @Test(arguments: [1000, 100_000, 262_144]) func largeMessagesFitInCodedBuffers(_ count: Int) throws {
        let data = [UInt8](repeating: 7, count: 16) + [UInt8](repeating: 0, count: count - 16)
        let packets = try TestSession.run(
            frames: 6,
            options: { index in
                var options = FrameOptions()
                if index == 3 { options.userData = [data] }
                return options
            }
        ) { $0.structure.bFrames = 0 }
        try write(packets) { path in
            let lines = try sideData(path).map { $0.components(of: "User Data Unregistered") }
            // Key frames also carry the encoder's name: the first, and the one that larger buffers begin with. FFmpeg 7
            // reports all messages of a frame, FFmpeg 5 one.
            let messages = packets.enumerated().map { ($1.isKey ? 1 : 0) + ($0 == 3 ? 1 : 0) }
            #expect(messages == [1, 0, 0, count > 65536 ? 2 : 1, 0, 0])
            #expect(lines == messages || lines == messages.map { min($0, 1) })
        }
        let frames = ForeignDecoder.libavcodec.decode(packets.stream)
        #expect(frames.frames.count == 6 && frames.messages.isEmpty, "\(frames.messages)")
    }

    /// Captions or messages of an invalid size are refused, and the frame is not accepted.
    @Test func captionsAndMessagesOfWrongSizeAreRefused() throws {
        let session = try TestSession { _ in }
        defer { session.encoder.invalidate() }
        func check(_ change: (inout FrameOptions) -> Void) throws {
            var options = FrameOptions()
            change(&options)
            let error = #expect(throws: VaencError.self) { try session.encode(0, options) }
            #expect(error?.category == .usage && error?.remedy != nil)
        }
        for count in [1, 2, 4, 94, 96, 186] { try check { $0.captions = [UInt8](repeating: 0xFC, count: count) } }
        for count in [0, 1, 15] { try check { $0.userData = [[UInt8](repeating: 1, count: 16), [UInt8](repeating: 1, count: count)] } }
        #expect(session.encoder.statistics.taken == 0 && session.encoder.pendingFrameCount == 0)
        var options = FrameOptions()
        options.captions = [UInt8](repeating: 0xFC, count: 93)
        options.userData = [[UInt8](repeating: 1, count: 16)]
        try session.encode(0, options)
        #expect(session.encoder.statistics.taken == 1)
    }

    @Test func userDataIsReadUnchanged() throws {
        let own = Array(UInt8(0)..<16) + [0, 0, 1, 0, 0, 0, 0, 3]
        let packets = try TestSession.run(
            frames: 5,
            options: { index in
                var options = FrameOptions()
                if index == 3 { options.userData = [own, own + [9]] }
                return options
            }
        ) { _ in }
        try write(packets) { path in
            // Up to FFmpeg 6, ffprobe reports only once that there is user data; from FFmpeg 7 on, it reports each
            // message.
            let found = try sideData(path).map { $0.components(of: "User Data Unregistered") }
            #expect(found == [1, 0, 0, 1, 0] || found == [1, 0, 0, 2, 0], "\(found)")
        }
        let stream = H264Stream(annexB: packets.stream)
        let messages = stream.framesInOutputOrder[3].information
        #expect(messages == [[], [9]].map { .userData(uuid: Array(own.prefix(16)), Array(own.dropFirst(16)) + $0) })
        #expect(packets.frame(0)?.bytes.contains("vaenc ") == true)
    }
}

extension Substring {
    /// Returns how often `part` occurs.
    fileprivate func components(of part: String) -> Int { split(separator: part, omittingEmptySubsequences: false).count - 1 }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool {
        let text = Array(text.utf8)
        return indices.dropLast(text.count - 1).contains { self[$0..<$0 + text.count].elementsEqual(text) }
    }
}
