import BitstreamInspection
import TestOracles
import Testing

/// Damaged H.264 streams are reported and never crash the reader.
@Suite struct DamageTests {
    @Test(arguments: Sample.structures + Sample.rates) func damagedStreamsAreReadAndReported(_ sample: Sample) throws {
        let bytes = try sample.start()
        let headers = H264Stream(annexB: bytes).nalUnits.flatMap { unit in
            Array(unit.payload.prefix([6, 7, 8].contains(unit.type) ? 64 : 12))
        }
        var different = 0
        let sound = H264Stream(annexB: bytes).violations.count
        Damage.sweep(bytes, headers: headers, rounds: 240) { damaged in
            let read = H264Stream(annexB: damaged)
            let report = read.hrd()
            if read.violations.count != sound || report?.conforms == false { different += 1 }
            #expect(read.frames.map(\.displayIndex).sorted() == Array(read.frames.indices))
        }
        // A third of the changes are in slice data, which is not read.
        #expect(different > 72)
    }

    /// Mixes and changes parameter sets and slices of several streams, which may contradict each other.
    @Test func mixedStreamsNeverCrashTheReader() throws {
        let streams = try (Sample.structures + Sample.rates).map { sample in
            let bytes = try sample.stream()
            return H264Stream(annexB: bytes).nalUnits.map { Array(bytes[$0.payload]) }
        }
        var pictures = 0
        Damage.mixtures(streams, rounds: 2000) { mixed in
            let read = H264Stream(annexB: mixed)
            _ = read.hrd()
            pictures += read.frames.count
            #expect(read.frames.map(\.displayIndex).sorted() == Array(read.frames.indices))
        }
        #expect(pictures > 2000)
    }

    @Test func shortStreamsAreViolationsWithoutFrames() {
        let cases: [[UInt8]] = [
            [], [0], [0, 0, 1], [0, 0, 1, 0x67], [0, 0, 0, 1, 0x65, 0x88], [1, 2, 3], [0, 0, 1, 0xff, 0, 0, 1],
        ]
        for bytes in cases {
            let stream = H264Stream(annexB: bytes)
            #expect(stream.frames.isEmpty)
            #expect(!stream.violations.isEmpty)
        }
    }

    @Test func missingAndRepeatedPicturesAreReported() throws {
        let sample = Sample.structures[0]
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        for dropped in 1..<9 {
            let read = H264Stream(annexB: stream.removing([dropped], from: bytes))
            #expect(read.violations(of: .frameNumber).map(\.frame) == [dropped])
        }
        // Without its IDR picture, the sequence refers to missing pictures.
        let headless = H264Stream(annexB: stream.removing([0], from: bytes))
        #expect(!headless.violations.isEmpty)
        // One picture occurs twice.
        let range = stream.byteRange(stream.frames[4])
        let doubled = H264Stream(annexB: Array(bytes[..<range.upperBound]) + bytes[range.lowerBound...])
        #expect(!doubled.violations(of: .frameNumber).isEmpty || !doubled.violations(of: .accessUnit).isEmpty)
    }

    @Test func commandsOnMissingPicturesAreReported() throws {
        let bytes = try Sample.structures[5].stream()
        let stream = H264Stream(annexB: bytes)
        var marking = 0
        var lists = 0
        for frame in stream.frames where frame.isReference && !frame.isIDR {
            let read = H264Stream(annexB: stream.removing([frame.index], from: bytes))
            #expect(!read.violations.isEmpty, "without picture \(frame.index)")
            marking += read.violations(of: .marking).count
            lists += read.violations(of: .referenceList).count
        }
        #expect(marking > 0)
        #expect(lists > 0)
    }

    @Test func missingSlicesAreReported() throws {
        let sample = try #require(Sample.structures.first { $0.name == "slices" })
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let first = stream.nalUnits[stream.frames[3].slices[0].nalUnit]
        var without = bytes
        without.removeSubrange(first.offset..<(first.offset + first.byteCount))
        #expect(!H264Stream(annexB: without).violations(of: .accessUnit).isEmpty)
        // Only the access unit delimiter of the last picture shows that another picture began.
        #expect(stream.nalUnits.filter { $0.type == 9 }.count == stream.frames.count)
    }

    /// Lowers the sizes in the SPS until the stream exceeds them.
    @Test func tooSmallDecodedPictureBufferIsReported() throws {
        let bytes = try Sample.structures[5].stream()
        let stream = H264Stream(annexB: bytes)
        let restriction = try #require(stream.sequenceSets[0].vui?.restriction)
        #expect(restriction.max_num_reorder_frames == stream.reorderDepth)
        #expect(stream.reorderDepth == 2)
        #expect(stream.maxReferences <= stream.sequenceSets[0].max_num_ref_frames)
        #expect(stream.maxReferences > 2)
    }
}
