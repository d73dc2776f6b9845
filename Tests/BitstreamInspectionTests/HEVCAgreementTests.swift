import BitstreamInspection
import TestOracles
import Testing

/// Compares the HEVC reader with FFmpeg's on x265's streams.
@Suite struct HEVCAgreementTests {
    @Test(arguments: HEVCSample.structures + HEVCSample.rates)
    func conformingStreamsHaveNoViolations(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        #expect(stream.frames.count == sample.frames)
        #expect(stream.frames.reduce(0) { $0 + $1.byteCount } == bytes.count)
        #expect(stream.visibleSize ?? (0, 0) == (sample.width, sample.height))
        #expect(stream.bitDepth == sample.bitDepth)
    }

    /// Compares every field of slice segment headers, parameter sets and timing messages that both readers name.
    @Test(arguments: HEVCSample.structures + HEVCSample.rates)
    func fieldsMatchTraceHeaders(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        #expect(HeaderAgreement.faults(stream, try TraceHeaders(stream: bytes, codec: "hevc")) == [])
    }

    /// Compares picture types and byte counts in output order.
    @Test(arguments: HEVCSample.structures) func outputOrderMatchesFFprobe(_ sample: HEVCSample) throws {
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
        var sum = 0
        for (line, frame) in zip(lines, stream.framesInOutputOrder) {
            #expect(line.contains(Substring(frame.kind == .i ? "I" : frame.type.rawValue)))
            // FFmpeg's parser counts the zero_byte of an access unit to the access unit before it.
            let size = line.compactMap { Int($0) }.first ?? 0
            #expect(abs(size - frame.byteCount) <= 1)
            sum += size
        }
        #expect(sum == bytes.count)
    }

    /// Changes each header field in turn: the comparison must report it.
    @Test func comparisonReportsEachChangedField() throws {
        let sample = HEVCSample(name: "", options: "qp=30:bframes=3:b-adapt=0:ref=3:weightp=0", frames: 7)
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        let trace = try TraceHeaders(stream: bytes, codec: "hevc")
        var seen: Set<String> = []
        var named: Set<String> = []
        let kinds: Set<String> = [
            "Slice Segment Header", "Video Parameter Set", "Sequence Parameter Set", "Picture Parameter Set",
        ]
        for kind in kinds {
            for unit in trace.units.indices.filter({ trace.units[$0].name == kind }).prefix(6) {
                for (field, value) in trace.units[unit].fields.enumerated() {
                    var other = trace
                    other.units[unit].fields[field].value = value.value + 1
                    named.insert(value.name)
                    if HeaderAgreement.faults(stream, other) != [] { seen.insert(value.name) }
                }
            }
        }
        // The rest is structure, which other fields show, and reserved bits.
        let unseen = named.subtracting(seen).filter { !$0.contains("reserved") && !$0.contains("alignment") }
        #expect(
            unseen.isSubset(of: [
                "forbidden_zero_bit", "nuh_layer_id", "rbsp_stop_one_bit", "general_one_picture_only_constraint_flag",
                "general_inbld_flag",
                "vps_sub_layer_ordering_info_present_flag", "sps_sub_layer_ordering_info_present_flag",
                "vps_num_layer_sets_minus1",
            ]), "\(unseen.sorted())")
        #expect(seen.count > 100)
        var fewer = trace
        fewer.units.remove(at: try #require(trace.units.firstIndex { $0.name == "Slice Segment Header" }))
        #expect(HeaderAgreement.faults(stream, fewer) != [])
    }

    /// If a picture is removed, only pictures that depend on it according to the reader change.
    @Test(arguments: HEVCSample.structures[..<7]) func picturesDependOnlyOnListedReferences(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        let whole = ForeignDecoder.libavcodec.decode(bytes, codec: .hevc).frames
        #expect(whole.count == stream.frames.count)
        var changed = 0
        for dropped in stream.frames.indices.dropFirst() where dropped % 3 == 1 && !stream.frames[dropped].isIRAP {
            var descendants: Set<Int> = [dropped]
            for frame in stream.frames[dropped...] where !descendants.isDisjoint(with: frame.references) {
                descendants.insert(frame.index)
            }
            let end = stream.frames[dropped...].first { $0.isIRAP }?.index ?? stream.frames.count
            let rest = Set(stream.frames.filter { !descendants.contains($0.index) && $0.index < end }.map(\.index))
            let removed = descendants.union(end..<stream.frames.count)
            let decoded = ForeignDecoder.libavcodec.decode(stream.removing(removed, from: bytes), codec: .hevc)
            let expected = stream.framesInOutputOrder.filter { rest.contains($0.index) }.map { whole[$0.displayIndex] }
            let same = decoded.frames.filter { expected.contains($0) } == expected
            #expect(same, "without picture \(dropped)")
            if descendants.count > 1 { changed += 1 }
        }
        #expect(changed > 0)
    }

    @Test func samplesContainTheNamedFeatures() throws {
        func stream(_ name: String) throws -> HEVCStream {
            HEVCStream(annexB: try #require(HEVCSample.structures.first { $0.name == name }).stream())
        }
        #expect(try stream("open GOP").frames.contains { $0.isRASL })
        #expect(try stream("RADL").frames.contains { $0.isRADL })
        let layers = try stream("sub-layers")
        #expect(Set(layers.frames.map(\.temporalID)) == [0, 1])
        #expect(layers.sequenceSets[0].subLayers.count == 2)
        let slices = try stream("slices and wavefronts")
        #expect(slices.frames.allSatisfy { $0.slices.count == 2 })
        #expect(slices.frames.contains { $0.slices.contains { !$0.header.entry_point_offset.isEmpty } })
        #expect(try stream("weights").frames.contains { $0.slices.contains { $0.header.weights != nil } })
        #expect(try stream("pyramid").reorderDepth == 2)
        let hdr = try stream("10 bits, HDR")
        #expect(hdr.bitDepth == 10)
        #expect(
            hdr.frames[0].information.contains(
                .masteringDisplay(
                    HEVCMasteringDisplay(
                        display_primaries: [[13250, 34500], [7500, 3000], [34000, 16000]], white_point: [15635, 16450],
                        max_display_mastering_luminance: 10_000_000, min_display_mastering_luminance: 1))))
        #expect(
            hdr.frames[0].information.contains(
                .contentLight(HEVCContentLight(max_content_light_level: 1000, max_pic_average_light_level: 400))))
        #expect(
            hdr.frames.allSatisfy { if case .md5(let planes)? = $0.pictureHash { planes.count == 3 } else { false } })
        guard case .crc(let crc)? = try stream("CRC").frames[0].pictureHash else { return #expect(Bool(false)) }
        #expect(crc.count == 3)
        guard case .checksum? = try stream("checksum").frames[0].pictureHash else { return #expect(Bool(false)) }
    }
}
