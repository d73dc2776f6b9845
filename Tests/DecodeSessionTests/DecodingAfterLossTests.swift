import DecodeSession
import ReferenceDisplay
import Testing
import TestOracles
import VideoBase

/// Streams with missing or damaged data: each lost picture is counted, and no wrong picture is output as correct.
@Suite struct DecodingAfterLossTests {
    /// Returns the pictures of the whole stream by their index in decoding order.
    private func whole(_ stream: Stream) throws -> [Int: PlanarFrame] {
        let run = try decode([stream.bytes], DecompressionConfiguration(codec: stream.codec), endsPicture: true)
        let pictures = try run.frames.compactMap { frame in try frame.planar().map { (frame.index, $0) } }
        return Dictionary(uniqueKeysWithValues: pictures)
    }

    /// Each NAL unit is left out in turn. The HEVC pictures have one slice each.
    @Test(arguments: VideoCodec.allCases)
    func missingUnitGivesNoWrongPicture(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 14)
        let (units, pictures) = (stream.units, try whole(stream))
        for missing in units.indices {
            var kept = units
            kept.remove(at: missing)
            let run = try decode([Stream.annexB(kept)], DecompressionConfiguration(codec: codec), endsPicture: true)
            #expect(run.addsUp, "unit \(missing)")
            // The picture's other slice remains: it is still a picture, with half of it missing.
            let isMissing = codec == .hevc && stream.isSlice(units[missing])
            let lostIndex = units[..<missing].count(where: stream.startsPicture)
            let wrong = try run.frames.filter { frame in
                let index = isMissing && frame.index >= lostIndex ? frame.index + 1 : frame.index
                return try !frame.followsDamage && frame.planar() != pictures[index]
            }
            #expect(wrong.map(\.index) == [], "unit \(missing)")
        }
    }

    /// Each picture is left out in turn: pictures that refer to it are skipped, not concealed.
    @Test(arguments: VideoCodec.allCases)
    func missingPictureSkipsItsDependents(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 14, options: "slices=1")
        let (units, pictures) = (stream.units, try whole(stream))
        let starts = units.indices.filter { stream.startsPicture(units[$0]) }
        var dependents = 0
        for (lostIndex, missing) in starts.enumerated() {
            var kept = units
            kept.remove(at: missing)
            let run = try decode([Stream.annexB(kept)], DecompressionConfiguration(codec: codec), endsPicture: true)
            #expect(run.addsUp)
            #expect(run.statistics.taken == starts.count - 1)
            dependents += run.skipped.count
            let wrong = try run.frames.filter { frame in
                try frame.planar() != pictures[frame.index < lostIndex ? frame.index : frame.index + 1]
            }
            #expect(wrong.map(\.index) == [], "without picture \(lostIndex)")
        }
        #expect(dependents > starts.count)
    }

    /// Decoding starts at each NAL unit, with known parameter sets.
    @Test(arguments: VideoCodec.allCases)
    func startAtAnyUnitGivesNoWrongPicture(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 14)
        let (units, pictures) = (stream.units, try whole(stream))
        let sets = units.prefix { !stream.isSlice($0) }.filter(stream.isParameterSet)
        for start in units.indices {
            let rest = Array(units[start...])
            let run = try decode([Stream.annexB(sets + rest)], DecompressionConfiguration(codec: codec), endsPicture: true)
            #expect(run.addsUp, "from unit \(start)")
            // The first picture may be incomplete, and pictures displayed before it refer to missing ones.
            let key = rest.firstIndex { stream.isKeySlice($0) && stream.startsPicture($0) }
            let expected = key.map { rest[$0...].count { stream.startsPicture($0) && !stream.isSkippedLeading($0) } } ?? 0
            #expect(run.frames.count >= expected, "from unit \(start)")
            let offset = 14 - run.statistics.taken
            let wrong = try run.frames.filter { try !$0.followsDamage && $0.planar() != pictures[$0.index + offset] }
            #expect(wrong.map(\.index) == [], "from unit \(start)")
            if let key, key > 0, rest[..<key].contains(where: stream.isSlice) { #expect(!run.skipped.isEmpty) }
        }
    }

    @Test(arguments: VideoCodec.allCases)
    func slicesBeforeParameterSetsAreSkipped(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 6)
        let slices = stream.units.filter(stream.isSlice)
        let run = try decode(
            slices,
            {
                var c = DecompressionConfiguration(codec: codec); c.framing = .bare; return c
            }(), endsPicture: false)
        #expect(run.addsUp && run.frames.isEmpty)
        #expect(run.statistics.skipped == [.noParameterSets: 6])
    }

    /// One byte of the stream is wrong, at regular intervals.
    @Test(arguments: VideoCodec.allCases)
    func wrongByteKeepsCountsConsistent(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 12, width: 64, height: 64)
        let offsets = stride(from: 0, to: stream.bytes.count, by: 61)
        for offset in offsets {
            var bytes = stream.bytes
            bytes[offset] ^= offset % 2 == 0 ? 0xFF : 0x10
            let collector = Collector()
            var configuration = DecompressionConfiguration(codec: codec)
            configuration.threads = 1 + offset % 3
            let pipeline = try collector.pipeline(configuration)
            do {
                try pipeline.decode(bytes, FrameTiming(presentation: .zero), endsPicture: true)
                try pipeline.finish()
            } catch let error as VaencError {
                #expect(error.category == .badInput, "byte \(offset): \(error)")
            }
            collector.run.statistics = pipeline.statistics
            #expect(collector.run.addsUp, "byte \(offset)")
        }
    }

    /// A slice of a picture with several slices is missing: the picture is skipped, and the following ones are marked.
    @Test(arguments: [8, 10])
    func missingHEVCSliceIsDetected(bitDepth: Int) throws {
        let stream = try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", try Fixture.carphone.path(), "-o", "a.h265", "--device", "reference", "--slices", "3", "--frames", "8",
                    "--preset", "7", "--qp", "30", "--bit-depth", "\(bitDepth)",
                ], directory: folder)
            #expect(setup.status == 0, "\(setup.errors)")
            return Stream(.hevc, try Files.read(folder + "/a.h265"))
        }
        let (units, pictures) = (stream.units, try whole(stream))
        let slices = units.indices.filter { stream.isSlice(units[$0]) }
        #expect(slices.count == 8 * 3)
        for missing in slices {
            var kept = units
            kept.remove(at: missing)
            let run = try decode([Stream.annexB(kept)], DecompressionConfiguration(codec: .hevc), endsPicture: true)
            let picture = units[...missing].count(where: stream.startsPicture) - 1
            #expect(run.addsUp && run.skipped.contains { $0.index == picture }, "slice \(missing)")
            let wrong = try run.frames.filter { try !$0.followsDamage && $0.planar() != pictures[$0.index] }
            #expect(wrong.map(\.index) == [], "without slice \(missing)")
        }
    }

    /// Access units are cut short at regular intervals.
    @Test(arguments: VideoCodec.allCases)
    func cutPictureIsCounted(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 8, width: 64, height: 64, options: codec == .h264 ? "slices=1" : "ctu=16")
        let (units, pictures) = (stream.units, try whole(stream))
        var (cuts, unnoticed) = (0, 0)
        for (index, unit) in units.enumerated() where stream.isSlice(unit) {
            let lostIndex = units[..<index].count(where: stream.startsPicture)
            for count in stride(from: 0, to: unit.count, by: max(1, unit.count / 3)) {
                var cut = units
                cut[index] = Array(unit.prefix(count))
                var configuration = DecompressionConfiguration(codec: codec)
                configuration.framing = .bare
                let run = try decode(cut.filter { !$0.isEmpty }, configuration, endsPicture: false)
                #expect(run.addsUp, "unit \(index) of \(count) bytes")
                let wrong = try run.frames.filter { frame in
                    let index = count == 0 && frame.index >= lostIndex ? frame.index + 1 : frame.index
                    return try !frame.followsDamage && frame.planar() != pictures[index]
                }
                cuts += 1
                if !wrong.isEmpty { unnoticed += 1 }
            }
        }
        // The data after the cut may be decoded as the rest of the picture.
        #expect(cuts > 20 && unnoticed * (codec == .h264 ? 2 : 4) <= cuts, "\(unnoticed) of \(cuts)")
    }

    /// In still content, later pictures copy the missing part. They are complete, follow the damage, and do not show
    /// the noise that the decoder's memory had.
    /// B pictures that copy it and are shown before the damaged picture are skipped too.
    @Test(arguments: VideoCodec.allCases, [(false, 0, 96), (true, 0, 96), (false, 2, 96), (true, 2, 96), (false, 0, 104), (true, 0, 104)])
    func copiesOfAMissingSliceAreNotDamaged(codec: VideoCodec, setting: (isOnDevice: Bool, bFrames: Int, width: Int)) throws {
        let frameCount = 12
        let stream = try Files.withTemporaryFolder { folder in
            let still = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-i", try Fixture.carphone.path(), "-vf",
                    "trim=end_frame=1,scale=\(setting.width):96,loop=-1:1,trim=end_frame=\(frameCount)",
                    folder + "/still.y4m",
                ])
            let setup = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", "still.y4m", "-o", "a.\(codec.rawValue)", "--codec", codec.rawValue, "--device", "reference", "--slices", "2",
                    "--qp", "30", "--bframes", "\(setting.bFrames)", "--preset", "7",
                ], directory: folder)
            #expect(still.status == 0 && setup.status == 0, "\(still.errors) \(setup.errors)")
            return Stream(codec, try Files.read(folder + "/a.\(codec.rawValue)"))
        }
        let slices = stream.units.indices.filter { stream.isSlice(stream.units[$0]) }
        let count = 2
        try #require(slices.count == count * frameCount)
        var kept = stream.units
        kept.remove(at: slices[4 * count - 1])
        let collector = Collector()
        collector.keepsPictures = false
        let device = try setting.isOnDevice ? DecodeDevice(ReferenceDisplay.open()) : nil
        let pipeline = try collector.pipeline(DecompressionConfiguration(codec: codec), on: device)
        for unit in kept { try pipeline.decode([0, 0, 0, 1] + unit, FrameTiming(presentation: .zero), endsPicture: false) }
        try pipeline.finish()
        collector.run.statistics = pipeline.statistics
        #expect(collector.run.addsUp && collector.run.skipped.allSatisfy { $0.reason == .damaged })
        let lost = collector.run.skipped.map(\.index)
        if setting.bFrames == 0 { #expect(lost == [3]) } else { #expect(lost.contains(3) && lost.count <= 1 + setting.bFrames) }
        #expect(collector.run.frames.allSatisfy { $0.followsDamage == ($0.index > 3) })
        // A part of the picture before it stands for the missing one.
        for picture in collector.pictures.compactMap({ $0 }) {
            let error = zip(picture.bytes, collector.pictures[0]?.bytes ?? []).map { abs(Int($0) - Int($1)) }
            #expect(error.reduce(0, +) < 2 * error.count)
        }
        #expect(collector.pictures.count == frameCount - lost.count)
    }

    /// All slices of a picture with a recovery point are lost, and its messages arrive: the next picture is none.
    @Test func messagesOfALostPictureAreForgotten() throws {
        let stream = try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", try Fixture.carphone.path(), "-o", "a.h264", "--device", "reference", "--intra-refresh", "--bframes", "0",
                    "--gop", "10", "--frames", "45", "--preset", "7", "--qp", "30",
                ], directory: folder)
            #expect(setup.status == 0, "\(setup.errors)")
            return Stream(.h264, try Files.read(folder + "/a.h264"))
        }
        var parts: [[[UInt8]]] = [[]]
        for unit in stream.units {
            if parts[parts.count - 1].contains(where: stream.isSlice), !stream.isSlice(unit) || stream.startsPicture(unit) { parts.append([]) }
            parts[parts.count - 1].append(unit)
        }
        let pictures = try whole(stream)
        let refreshes = parts.indices.filter { $0 > 0 && parts[$0].contains { $0[0] & 31 == 6 } }
        #expect(parts.count == 45 && refreshes.count >= 3)
        for lost in refreshes {
            var kept = parts
            kept[lost] = parts[lost].filter { !stream.isSlice($0) }
            let run = try decode(kept.map(Stream.annexB), DecompressionConfiguration(codec: .h264), endsPicture: true)
            #expect(run.addsUp && run.statistics.taken == 44)
            let wrong = try run.frames.filter { try !$0.followsDamage && $0.planar() != pictures[$0.index < lost ? $0.index : $0.index + 1] }
            #expect(wrong.map(\.index) == [], "without picture \(lost)")
        }
    }
}
