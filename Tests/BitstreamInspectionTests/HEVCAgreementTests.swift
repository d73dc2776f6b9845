import BitstreamInspection
import TestOracles
import Testing

/// The HEVC reader against FFmpeg's, on x265's streams.
@Suite struct HEVCAgreementTests {
    @Test(arguments: HEVCSample.structures + HEVCSample.rates)
    func nothingIsWrongWithSoundStreams(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        #expect(stream.frames.count == sample.frames)
        #expect(stream.frames.reduce(0) { $0 + $1.byteCount } == bytes.count)
        #expect(stream.visibleSize ?? (0, 0) == (sample.width, sample.height))
        #expect(stream.bitDepth == sample.bitDepth)
    }

    /// Every field of every slice segment header, parameter set and timing message that both name.
    @Test(arguments: HEVCSample.structures + HEVCSample.rates)
    func fieldsAreThoseOfTraceHeaders(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        #expect(HeaderAgreement.faults(stream, try TraceHeaders(stream: bytes, codec: "hevc")) == [])
    }

    /// Types and bytes in output order, as a decoder gives them.
    @Test(arguments: HEVCSample.structures) func outputOrderIsFFprobes(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        let lines = try Files.withTemporaryFolder { folder in
            try Files.write(bytes, to: folder + "/a.h265")
            let result = try ProcessRunner.run(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "frame=pict_type,pkt_size", "-of", "csv=p=0", folder + "/a.h265",
                ])
            return result.output.split(separator: "\n").map { $0.split(separator: ",") }
        }
        #expect(lines.count == stream.frames.count)
        for (line, frame) in zip(lines, stream.framesInOutputOrder) {
            #expect(line.contains(Substring(frame.kind == .i ? "I" : frame.typeName)))
            #expect(line.contains("\(frame.byteCount)"))
        }
    }
}
