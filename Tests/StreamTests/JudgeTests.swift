import BitstreamInspection
import TestOracles
import Testing

/// Tests the judgment of encoded streams: a stream that passes must fail when it is damaged.
@Suite struct JudgeTests {
    @Test func damageToStreamOrReconstructionIsAFault() throws {
        let source = try Fixture.carphone.frames(6).map { $0.cropped(x: 0, y: 0, width: 64, height: 64) }
        let sound = try EncodedStream(source, options: ["--codec", "h264", "--qp", "24", "--slices", "2", "--bframes", "0"])
        #expect(sound.faults(frameCount: 6).isEmpty)
        #expect(!sound.faults(frameCount: 5).isEmpty)
        #expect(sound.lowestPSNR(against: source) > 32)
        #expect(sound.lowestPSNR(against: source.reversed()) < sound.lowestPSNR(against: source))

        var generator = SplitMix64(state: 11)
        // The damage is inside the first slice's data, because elsewhere a bit may have no visible effect.
        let starts = sound.stream.indices.dropLast(3).filter {
            sound.stream[$0] == 0 && sound.stream[$0 + 1] == 0 && sound.stream[$0 + 2] == 1
        }
        let first = try #require(starts.firstIndex { sound.stream[$0 + 3] & 31 == 5 })
        let data = (starts[first] + 12)..<(starts[first + 1] - 3)
        for _ in 0..<40 {
            var damaged = sound
            damaged.stream[Int.random(in: data, using: &generator)] ^= 0x10
            #expect(!damaged.faults(frameCount: 6).isEmpty)
        }
        #expect(sound.violations().isEmpty)
        for dropped in 0..<5 {
            let range = sound.inspected.frames[dropped].nalUnits
            let units = sound.inspected.nalUnits[range]
            var damaged = sound
            let start = units.first?.offset ?? 0
            damaged.stream.removeSubrange(start..<(start + units.reduce(0) { $0 + $1.byteCount }))
            #expect(!damaged.violations().isEmpty, "without picture \(dropped)")
        }
        var mistaken = sound
        mistaken.reconstruction.pictures[2].poc += 2
        mistaken.reconstruction.pictures[3].type = "B"
        #expect(mistaken.violations().count == 2)

        for plane in [0, 64 * 64, 64 * 64 * 5 / 4] {
            var damaged = sound
            var bytes = sound.reconstruction.frames[3].bytes
            bytes[plane + 77] ^= 1
            damaged.reconstruction.frames[3] = try #require(PlanarFrame(width: 64, height: 64, bytes: bytes))
            #expect(damaged.faults(frameCount: 6).count == 2)
        }
    }

    /// The stream has B pictures and the pictures' MD5 hashes.
    @Test func damageToHEVCIsAFault() throws {
        let source = try Fixture.carphone.frames(6).map { $0.cropped(x: 0, y: 0, width: 128, height: 128) }
        let sound = try EncodedStream(
            source, codec: .hevc, options: ["--codec", "hevc", "--qp", "24", "--slices", "2", "--bframes", "1"])
        #expect(sound.faults(frameCount: 6) + sound.violations() + sound.unhashed() == [])
        let stream = HEVCStream(annexB: sound.stream)
        #expect(stream.frames.count == 6 && stream.frames.allSatisfy { $0.sliceCount == 2 })

        var generator = SplitMix64(state: 11)
        for unit in stream.nalUnits where unit.isSlice && unit.payload.count > 30 {
            for _ in 0..<4 {
                var damaged = sound
                let offset = Int.random(in: (unit.payload.lowerBound + 12)..<(unit.payload.upperBound - 3), using: &generator)
                damaged.stream[offset] ^= 0x10
                #expect(!damaged.faults(frameCount: 6).isEmpty)
            }
        }
        for frame in stream.frames {
            let units = stream.nalUnits[frame.nalUnits]
            var damaged = sound
            let start = units.first?.offset ?? 0
            damaged.stream.removeSubrange(start..<(start + units.reduce(0) { $0 + $1.byteCount }))
            #expect(!damaged.violations().isEmpty, "without picture \(frame.index)")
            // Decoded picture hashes are suffix messages, of type 40.
            let hash = try #require(units.last { $0.type == 40 })
            damaged = sound
            damaged.stream[hash.payload.lowerBound + 9] ^= 1
            #expect(!damaged.faults(frameCount: 6).isEmpty)
            damaged = sound
            damaged.stream.removeSubrange(hash.offset..<(hash.offset + hash.byteCount))
            #expect(damaged.unhashed().count == 1)
        }
        var mistaken = sound
        mistaken.reconstruction.pictures[2].poc += 2
        mistaken.reconstruction.pictures[3].type = "I"
        #expect(mistaken.violations().count == 2)
    }
}
