import TestOracles
import Testing

/// A stream of x264, whole or damaged.
private struct Sample: Sendable {
    let options: String
    let stream: [UInt8]
    /// The ranges of the NAL units, without start codes.
    let units: [Range<Int>]

    init(_ options: String, frames: Int = 8) throws {
        self.options = options
        let source = try Fixture.carphone.frames(frames, width: 96, height: 80)
        let stream = try ForeignEncoder.x264(source, options: options)
        var starts: [Int] = []
        for i in 0..<(stream.count - 3) where stream[i] == 0 && stream[i + 1] == 0 && stream[i + 2] == 1 {
            starts.append(i + 3)
        }
        self.stream = stream
        units = starts.enumerated().map { index, start in
            var end = index + 1 < starts.count ? starts[index + 1] - 3 : stream.count
            while end > start, stream[end - 1] == 0 { end -= 1 }
            return start..<end
        }
    }

    var slices: [Range<Int>] { units.filter { [1, 5].contains(stream[$0.lowerBound] & 31) } }

    /// Returns the stream without a unit.
    func dropping(_ unit: Range<Int>) -> [UInt8] {
        Array(stream[..<(unit.lowerBound - 3)] + stream[unit.upperBound...])
    }
}

private let options = [
    "qp=24:keyint=4:slices=1:bframes=0:cabac=1:8x8dct=1", "qp=30:keyint=250:slices=3:bframes=0:cabac=0:8x8dct=0",
    "qp=28:keyint=250:slices=2:bframes=0:cabac=1:ref=3",
]

/// Whether the decoder accepts the stream by the criterion of all judgments: no message, and exactly these pictures.
private func accepts(_ decoder: ForeignDecoder, _ stream: [UInt8], as expected: [PlanarFrame]) -> Bool {
    let decoded = decoder.decode(stream)
    return decoded.messages.isEmpty && decoded.frames == expected
}

@Suite struct DecoderTests {
    @Test(arguments: options) func decodersAgreeOnWholeStreams(_ options: String) throws {
        let sample = try Sample(options)
        let first = ForeignDecoder.libavcodec.decode(sample.stream)
        let second = ForeignDecoder.openh264.decode(sample.stream)
        #expect(first.messages.isEmpty, "\(first.messages)")
        #expect(second.messages.isEmpty, "\(second.messages)")
        #expect(first.frames.count == 8)
        let agree = first.frames == second.frames
        #expect(agree)
        let source = try Fixture.carphone.frames(8, width: 96, height: 80)
        for (a, b) in zip(first.frames, source) { #expect(PSNR.luma(a, b) > 30) }
    }

    @Test func decodedFramesAreCropped() throws {
        let source = try Fixture.carphone.frames(3).map { $0.cropped(x: 10, y: 20, width: 50, height: 38) }
        let stream = try ForeignEncoder.x264(source, options: "qp=20:bframes=0")
        for decoder in ForeignDecoder.all(for: .h264) {
            let decoded = decoder.decode(stream)
            #expect(decoded.frames.map(\.width) == [50, 50, 50] && decoded.frames.map(\.height) == [38, 38, 38])
            #expect(decoded.messages.isEmpty, "\(decoded.messages)")
            for (a, b) in zip(decoded.frames, source) { #expect(PSNR.all(a, b) > 34) }
        }
    }

    @Test(arguments: ForeignDecoder.all(for: .h264)) func flippedBitsAreReported(_ decoder: ForeignDecoder) throws {
        for options in options {
            let sample = try Sample(options)
            let whole = decoder.decode(sample.stream).frames
            let acceptsWhole = accepts(decoder, sample.stream, as: whole)
            #expect(acceptsWhole)
            var generator = SplitMix64(state: 7)
            for _ in 0..<60 {
                let unit = sample.slices.randomElement(using: &generator)!
                // The change is after the slice header. The last bytes hold the stop bit, and some decoders do not read
                // the bits near it.
                let position = Int.random(in: (unit.lowerBound + 8)..<(unit.upperBound - 2), using: &generator)
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
                var mutated = sample.stream
                mutated[position] ^= bit
                let accepted = accepts(decoder, mutated, as: whole)
                #expect(!accepted, "\(options): byte \(position) ^ \(bit) went unnoticed")
            }
        }
    }

    @Test(arguments: ForeignDecoder.all(for: .h264)) func missingPartsAreReported(_ decoder: ForeignDecoder) throws {
        for options in options {
            let sample = try Sample(options)
            let whole = decoder.decode(sample.stream).frames
            for (index, unit) in sample.units.enumerated() where type(of: unit, in: sample) != 6 {
                // A repeated parameter set may be missing.
                let isRepeated = sample.units[..<index].contains { sample.stream[$0] == sample.stream[unit] }
                if isRepeated { continue }
                let accepted = accepts(decoder, sample.dropping(unit), as: whole)
                #expect(!accepted, "\(options): without \(unit)")
            }
            for unit in sample.slices {
                var mutated = sample.stream
                mutated.removeSubrange((unit.lowerBound + unit.count / 2)..<unit.upperBound)
                let accepted = accepts(decoder, mutated, as: whole)
                #expect(!accepted, "\(options): \(unit) cut in half")
            }
            let accepted = accepts(decoder, Array(sample.stream.dropLast(20)), as: whole)
            #expect(!accepted, "\(options): without the last 20 bytes")
        }
    }

    @Test(arguments: ForeignDecoder.all(for: .h264)) func randomBytesYieldNoFrames(_ decoder: ForeignDecoder) {
        var generator = SplitMix64(state: 3)
        for count in [0, 1, 3, 4, 5, 100, 5000] {
            let rubbish = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(decoder.decode(rubbish).frames.isEmpty)
            #expect(decoder.decode([0, 0, 0, 1, 0x65] + rubbish).frames.isEmpty)
        }
    }

    private func type(of unit: Range<Int>, in sample: Sample) -> UInt8 { sample.stream[unit.lowerBound] & 31 }
}
