import DecodeSession
import Testing
import TestOracles
import VideoBase

@Suite struct InputFramingTests {
    /// Makes an avcC or hvcC with the size of the lengths and the parameter sets.
    private func record(_ stream: Stream, lengthSize: Int) -> [UInt8] {
        func sized(_ unit: [UInt8]) -> [UInt8] { [UInt8(unit.count >> 8), UInt8(unit.count & 255)] + unit }
        let sets = stream.units.prefix { !stream.isSlice($0) }.filter(stream.isParameterSet)
        if stream.codec == .h264 {
            let sequence = sets.filter { $0[0] & 31 == 7 }
            let picture = sets.filter { $0[0] & 31 == 8 }
            return [1, 100, 0, 31, 0xFC | UInt8(lengthSize - 1), 0xE0 | UInt8(sequence.count)] + sequence.flatMap(sized)
                + [UInt8(picture.count)] + picture.flatMap(sized)
        }
        return [1] + [UInt8](repeating: 0, count: 20) + [0xFC | UInt8(lengthSize - 1), UInt8(sets.count)]
            + sets.flatMap { [$0[0] >> 1 & 63, 0, 1] + sized($0) }
    }

    @Test(arguments: VideoCodec.allCases, [8, 10])
    func everyFramingGivesTheSamePictures(codec: VideoCodec, bitDepth: Int) throws {
        if codec == .h264, bitDepth == 10 { return }
        let stream = try Stream.make(codec, bitDepth: bitDepth)
        #expect(stream.pictures.count == 24)
        func check(_ run: Run, _ form: String) throws {
            let isSame = try run.frames.map { try $0.planar() } == stream.pictures
            #expect(isSame, "\(form)")
            #expect(run.addsUp && run.skipped.isEmpty && run.statistics.taken == 24, "\(form)")
        }
        var configuration = DecompressionConfiguration(codec: codec)
        let units = stream.units
        try check(decode([stream.bytes], configuration, endsPicture: true), "the whole stream")
        try check(decode(units.map { [0, 0, 1] + $0 + [0] }, configuration, endsPicture: false), "units behind start codes")
        configuration.framing = .bare
        try check(decode(units, configuration, endsPicture: false), "bare units")
        for size in [1, 2, 4] {
            let isFitting = units.allSatisfy { size > 1 || $0.count < 256 }
            if !isFitting { continue }
            let pieces = units.filter { !stream.isParameterSet($0) }.map { unit in
                (0..<size).map { UInt8(truncatingIfNeeded: unit.count >> (8 * (size - 1 - $0))) } + unit
            }
            var configuration = DecompressionConfiguration(codec: codec)
            configuration.record = record(stream, lengthSize: size)
            try check(decode(pieces, configuration, endsPicture: false), "lengths of \(size) bytes")
        }
        for threads in [1, 2, 5] {
            var configuration = DecompressionConfiguration(codec: codec)
            configuration.threads = threads
            configuration.isRealTime = threads == 5
            try check(decode([stream.bytes], configuration, endsPicture: true), "\(threads) threads")
        }
    }

    @Test(arguments: VideoCodec.allCases)
    func timesStayWithTheirPictures(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, options: "slices=1")
        // Each picture has one unit: its time is that of the slice.
        let run = try decode(stream.units.map { [0, 0, 0, 1] + $0 }, DecompressionConfiguration(codec: codec), endsPicture: false)
        let slices = stream.units.indices.filter { stream.startsPicture(stream.units[$0]) }
        for frame in run.frames { #expect(frame.timing.presentation.value == Int64(slices[frame.index])) }
        // With B pictures, presentation order differs from decoding order.
        #expect(run.frames.map(\.index) != run.frames.map(\.index).sorted())
    }

    @Test(arguments: VideoCodec.allCases)
    func requestedSizeAndFormatAreUsed(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 4)
        var configuration = DecompressionConfiguration(codec: codec)
        configuration.size = VideoSize(width: 48, height: 40)
        configuration.pixelFormat = .bgra
        let run = try decode([stream.bytes], configuration, endsPicture: true)
        #expect(run.frames.count == 4)
        #expect(run.frames.allSatisfy { $0.buffer.size == configuration.size && $0.buffer.format == .bgra })
    }

    @Test(arguments: VideoCodec.allCases)
    func parameterSetsMayChange(codec: VideoCodec) throws {
        let depths = codec == .hevc ? [8, 10, 8] : [8, 8, 8]
        let parts = try [(96, 80), (128, 64), (64, 96)].enumerated().map { index, size in
            try Stream.make(codec, frames: 7, width: size.0, height: size.1, bitDepth: depths[index])
        }
        let run = try decode([parts.flatMap(\.bytes)], DecompressionConfiguration(codec: codec), endsPicture: true)
        let isSame = try run.frames.map { try $0.planar() } == parts.flatMap(\.pictures)
        #expect(isSame)
        #expect(run.addsUp && run.skipped.isEmpty)
    }

    @Test func malformedFramingIsAnErrorWithoutEffect() throws {
        let stream = try Stream.make(.h264, frames: 3)
        let cases: [(UnitFraming, [UInt8])] = [
            (.annexB, []), (.annexB, [1, 2, 3]), (.annexB, [9, 0, 0, 1, 0x67]), (.lengthPrefixed(4), [0, 0, 0]),
            (.lengthPrefixed(4), [0, 0, 0, 9, 1]), (.lengthPrefixed(2), [0, 2, 1]), (.lengthPrefixed(1), [4, 1, 2]),
            (.bare, []), (.bare, [0, 0, 1, 0x67, 66]), (.bare, [0, 0, 0, 1, 0x67, 66]),
        ]
        for (framing, bytes) in cases {
            var configuration = DecompressionConfiguration(codec: .h264)
            configuration.framing = framing
            let collector = Collector()
            let pipeline = try collector.pipeline(configuration)
            let error = #expect(throws: VaencError.self) {
                try pipeline.decode(bytes, FrameTiming(presentation: .zero), endsPicture: true)
            }
            #expect(error?.category == .badInput, "\(framing) \(bytes)")
            #expect(pipeline.statistics == DecoderStatistics())
        }
        var configuration = DecompressionConfiguration(codec: .h264)
        configuration.framing = .lengthPrefixed(3)
        #expect(throws: VaencError.self) { try decode([stream.bytes], configuration, endsPicture: true) }
    }

    /// Every prefix of a valid record is refused, and each byte of it is damaged in turn.
    @Test(arguments: VideoCodec.allCases)
    func brokenRecordsAreErrors(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 2)
        let sound = record(stream, lengthSize: 4)
        for count in 0..<sound.count {
            var configuration = DecompressionConfiguration(codec: codec)
            configuration.record = Array(sound.prefix(count))
            #expect(throws: VaencError.self, "\(count) bytes") { try Collector().pipeline(configuration) }
            configuration.record = sound
            configuration.record?[count] ^= 0x55
            do { _ = try Collector().pipeline(configuration) } catch let error as VaencError {
                #expect(error.category == .badInput)
            }
        }
    }
}
