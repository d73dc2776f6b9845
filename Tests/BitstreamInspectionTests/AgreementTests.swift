import BitstreamInspection
import TestOracles
import Testing

/// Compares the H.264 reader with FFmpeg's on x264's streams.
@Suite struct AgreementTests {
    @Test(arguments: Sample.structures + Sample.rates) func conformingStreamsHaveNoViolations(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        #expect(stream.frames.count == sample.frames)
        #expect(stream.frames.reduce(0) { $0 + $1.byteCount } == bytes.count)
        let size = stream.sequenceSets[0].visibleSize
        #expect(size == (sample.width, sample.height))
    }

    /// Compares every field of slice headers, parameter sets and timing messages that both readers name.
    @Test(arguments: Sample.structures + Sample.rates) func fieldsMatchTraceHeaders(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let trace = try TraceHeaders(stream: bytes)
        #expect(HeaderAgreement.faults(stream, trace) == [])
    }

    /// Changes each field of a slice in turn: the comparison must report it.
    @Test func comparisonReportsEachChangedField() throws {
        let whole = try Sample.structures[3].stream()
        let bytes = H264Stream(annexB: whole).removing(Set(8..<40), from: whole)
        let stream = H264Stream(annexB: bytes)
        let trace = try TraceHeaders(stream: bytes)
        var seen: Set<String> = []
        let slices = trace.units.indices.filter { trace.units[$0].name == "Slice Header" }
        for unit in slices.prefix(6) {
            for (field, value) in trace.units[unit].fields.enumerated() {
                var other = trace
                other.units[unit].fields[field].value = value.value + 1
                if HeaderAgreement.faults(stream, other) != [] { seen.insert(value.name) }
            }
        }
        #expect(
            seen.isSuperset(of: [
                "nal_ref_idc", "nal_unit_type", "first_mb_in_slice", "slice_type", "frame_num", "pic_order_cnt_lsb",
                "num_ref_idx_active_override_flag", "slice_qp_delta", "disable_deblocking_filter_idc",
            ]), "\(seen)")
        var fewer = trace
        fewer.units.remove(at: slices[4])
        #expect(HeaderAgreement.faults(stream, fewer) != [])
    }

    /// The program reads the first parameter sets twice, so profile_idc is compared as a set.
    @Test func inProcessTraceMatchesFFmpegProgram() throws {
        let bytes = try Sample.structures[0].stream()
        let theirs = try Files.withTemporaryFolder { folder in
            try Files.write(bytes, to: folder + "/a.h264")
            return try TraceHeaders(path: folder + "/a.h264")
        }
        let ours = try TraceHeaders(stream: bytes)
        #expect(ours.units(named: "Slice Header").count == 24)
        func lines(_ trace: TraceHeaders) -> [String] {
            trace.units(named: "Slice Header").map { "\($0.fields)" }
        }
        #expect(lines(ours) == lines(theirs))
        #expect(Set(ours["profile_idc"]) == Set(theirs["profile_idc"]))
    }

    /// Compares picture types and byte counts in output order.
    @Test(arguments: Sample.structures) func outputOrderMatchesFFprobe(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let lines = try Files.withTemporaryFolder { folder in
            try Files.write(bytes, to: folder + "/a.h264")
            let result = try ProcessRunner.run(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "frame=pict_type,pkt_size", "-of", "csv=p=0", folder + "/a.h264",
                ])
            return result.output.split(separator: "\n").map { $0.split(separator: ",") }
        }
        #expect(lines.count == stream.frames.count)
        for (line, frame) in zip(lines, stream.framesInOutputOrder) {
            #expect(line.contains(Substring(frame.kind == .i ? "I" : frame.type.rawValue)))
            #expect(line.contains("\(frame.byteCount)"))
        }
    }

    /// If a picture is removed, only pictures that depend on it according to the reader change.
    @Test(arguments: Sample.structures[..<7]) func picturesDependOnlyOnListedReferences(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let whole = ForeignDecoder.libavcodec.decode(bytes).frames
        #expect(whole.count == stream.frames.count)
        var changed = 0
        for dropped in stream.frames.indices.dropFirst() where dropped % 3 == 1 && !stream.frames[dropped].isIDR {
            var descendants: Set<Int> = [dropped]
            for frame in stream.frames[dropped...] where !descendants.isDisjoint(with: frame.references) {
                descendants.insert(frame.index)
            }
            // Pictures from the next IDR picture on do not depend on the removed picture in any case.
            let end = stream.frames[dropped...].first { $0.isIDR }?.index ?? stream.frames.count
            let rest = Set(stream.frames.filter { !descendants.contains($0.index) && $0.index < end }.map(\.index))
            let removed = descendants.union(end..<stream.frames.count)
            let decoded = ForeignDecoder.libavcodec.decode(stream.removing(removed, from: bytes))
            let expected = stream.framesInOutputOrder.filter { rest.contains($0.index) }.map { whole[$0.displayIndex] }
            let same = decoded.frames.filter { expected.contains($0) } == expected
            #expect(same, "without picture \(dropped)")
            if descendants.count > 1 { changed += 1 }
        }
        #expect(changed > 0)
    }
}
