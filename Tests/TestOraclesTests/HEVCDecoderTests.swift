import Synchronization
import TestOracles
import Testing

/// The streams that this process has encoded: many tests read the same stream.
private let streams = Mutex<[String: [UInt8]]>([:])

/// A stream of x265, whole or damaged.
private struct Sample: Sendable, CustomTestStringConvertible {
    var options: String
    var bitDepth: Int
    var width = 96
    var height = 80

    static let all = [
        Sample(options: "qp=24:keyint=4:bframes=0:slices=1", bitDepth: 8),
        // For slices, x265 needs its own threads.
        Sample(options: "qp=30:bframes=3:b-adapt=0:ref=3:ctu=32:pools=1:slices=2", bitDepth: 8, width: 96, height: 128),
        Sample(options: "qp=22:keyint=250:bframes=2:b-adapt=0:sao=1:ctu=32", bitDepth: 10),
        Sample(options: "qp=28:keyint=6:bframes=0:sao=0:amp=1:rect=1:ctu=16", bitDepth: 10, width: 98, height: 82),
        // CRA pictures have leading pictures that refer to pictures before them, and the same parameter sets precede
        // each.
        Sample(options: "qp=26:keyint=3:min-keyint=3:scenecut=0:bframes=2:b-adapt=0:open-gop=1:ctu=32", bitDepth: 8),
    ]

    var testDescription: String { "\(bitDepth) bits, \(options)" }

    func source(_ count: Int = 8) throws -> [PlanarFrame] {
        let frames = try Fixture.carphone.frames(count).map { $0.cropped(x: 10, y: 10, width: width, height: height) }
        return bitDepth == 8 ? frames : frames.map(\.widenedTo10Bits)
    }

    func stream(hash: Int = 0) throws -> [UInt8] {
        try streams.withLock { streams in
            let name = "\(width)×\(height), \(bitDepth), \(options), \(hash)"
            if let stream = streams[name] { return stream }
            let stream = try ForeignEncoder.x265(source(), options: options + ":hash=\(hash)")
            streams[name] = stream
            return stream
        }
    }
}

/// Returns the ranges of the NAL units, without their start codes.
private func units(_ stream: [UInt8]) -> [Range<Int>] {
    let starts = stream.indices.dropLast(3).filter {
        stream[$0] == 0 && stream[$0 + 1] == 0 && stream[$0 + 2] == 1
    }.map { $0 + 3 }
    return starts.enumerated().map { index, start in
        var end = index + 1 < starts.count ? starts[index + 1] - 3 : stream.count
        while end > start, stream[end - 1] == 0 { end -= 1 }
        return start..<end
    }
}

private func type(of unit: Range<Int>, in stream: [UInt8]) -> Int { Int(stream[unit.lowerBound] >> 1 & 63) }

/// Whether the decoder accepts the stream by the criterion of all judgments: no message, and exactly these pictures.
private func accepts(_ decoder: ForeignDecoder, _ stream: [UInt8], as expected: [PlanarFrame]) -> Bool {
    let decoded = decoder.decode(stream, codec: .hevc)
    return decoded.messages.isEmpty && decoded.frames == expected
}

@Suite struct HEVCDecoderTests {
    /// Each sample has two of the four kinds of hashes.
    @Test(arguments: Sample.all) fileprivate func decodersAgreeOnWholeStreams(_ sample: Sample) throws {
        let number = Sample.all.firstIndex { $0.options == sample.options } ?? 0
        for hash in [number % 4, (number + 2) % 4] {
            let stream = try sample.stream(hash: hash)
            let first = ForeignDecoder.libavcodec.decode(stream, codec: .hevc)
            let second = ForeignDecoder.libde265.decode(stream, codec: .hevc)
            let third = try ForeignProgram.ffmpeg(
                stream, codec: .hevc, width: sample.width, height: sample.height, bitDepth: sample.bitDepth)
            for decoded in [first, second, third] {
                #expect(decoded.messages.isEmpty, "\(decoded.messages)")
                #expect(decoded.frames.count == 8)
                #expect(decoded.frames.allSatisfy { $0.bitDepth == sample.bitDepth && $0.width == sample.width })
            }
            let agree = first.frames == second.frames && first.frames == third.frames
            #expect(agree)
            for (a, b) in zip(first.frames, try sample.source()) { #expect(PSNR.luma(a, b) > 30) }
        }
    }

    /// The coded size is a multiple of the smallest coding block, and the window shows its upper left part.
    @Test(arguments: [8, 10]) func framesAreDecodedWholeOrCropped(_ bitDepth: Int) throws {
        let sample = Sample(options: "qp=20:bframes=0", bitDepth: bitDepth, width: 50, height: 38)
        let stream = try sample.stream(hash: 1)
        let whole = ForeignDecoder.all(for: .hevc).map { $0.decode(stream, codec: .hevc, isWhole: true) }
        for decoded in whole {
            #expect(decoded.messages.isEmpty, "\(decoded.messages)")
            #expect(decoded.frames.map(\.width) == [Int](repeating: 56, count: 8))
            #expect(decoded.frames.map(\.height) == [Int](repeating: 40, count: 8))
        }
        let agree = whole[0].frames == whole[1].frames
        #expect(agree)
        for decoder in ForeignDecoder.all(for: .hevc) {
            let cropped = decoder.decode(stream, codec: .hevc).frames
            let same = cropped == whole[0].frames.map { $0.cropped(x: 0, y: 0, width: 50, height: 38) }
            #expect(same)
        }
    }

    /// A hash that does not match its picture is an error, whatever the slices are.
    @Test(arguments: Sample.all) fileprivate func wrongHashesAreReported(_ sample: Sample) throws {
        let stream = try sample.stream(hash: 1)
        let hashes = units(stream).filter { type(of: $0, in: stream) == 40 }
        #expect(hashes.count == 8)
        for (picture, unit) in hashes.enumerated() {
            // The bytes are the header, the payload type, the size, the hash type, and 16 bytes for each plane.
            #expect(stream[unit.lowerBound + 2] == 132)
            for offset in [5, 20, 21, 37, 52] {
                var mutated = stream
                mutated[unit.lowerBound + offset] ^= 4
                let decoded = ForeignDecoder.libavcodec.decode(mutated, codec: .hevc)
                #expect(decoded.messages.contains { $0.lowercased().contains("checksum") }, "\(decoded.messages)")
            }
            guard picture % 4 == 3 else { continue }
            let decoded = try ForeignProgram.ffmpeg(
                stream.mutated(at: unit.lowerBound + 9), codec: .hevc, width: sample.width, height: sample.height,
                bitDepth: sample.bitDepth)
            #expect(!decoded.messages.isEmpty)
        }
    }

    @Test(arguments: ForeignDecoder.all(for: .hevc)) func flippedBitsAreReported(_ decoder: ForeignDecoder) throws {
        // Entry points and the ends of substreams hold bits that are not read.
        for sample in Sample.all where !sample.options.contains("slices=2") {
            let stream = try sample.stream()
            let slices = units(stream).filter { type(of: $0, in: stream) < 32 }
            let whole = decoder.decode(stream, codec: .hevc).frames
            let acceptsWhole = accepts(decoder, stream, as: whole)
            #expect(acceptsWhole)
            var generator = SplitMix64(state: 7)
            for _ in 0..<60 {
                let unit = slices.filter { $0.count > 20 }.randomElement(using: &generator)!
                let position = Int.random(in: (unit.lowerBound + 10)..<(unit.upperBound - 2), using: &generator)
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
                let accepted = accepts(decoder, stream.mutated(at: position, bit), as: whole)
                #expect(!accepted, "\(sample.options): byte \(position) ^ \(bit) of \(unit) went unnoticed")
            }
        }
    }

    @Test(arguments: ForeignDecoder.all(for: .hevc)) func missingPartsAreReported(_ decoder: ForeignDecoder) throws {
        for sample in Sample.all {
            let stream = try sample.stream()
            let whole = decoder.decode(stream, codec: .hevc).frames
            let all = units(stream)
            for (index, unit) in all.enumerated() {
                let type = type(of: unit, in: stream)
                guard type < 32 || type == 33 || type == 34 else { continue }
                if all[..<index].contains(where: { stream[$0] == stream[unit] }) { continue }
                var mutated = stream
                mutated.removeSubrange((unit.lowerBound - 3)..<unit.upperBound)
                let accepted = accepts(decoder, mutated, as: whole)
                #expect(!accepted, "\(sample.options): without \(unit)")
            }
            let accepted = accepts(decoder, Array(stream.dropLast(20)), as: whole)
            #expect(!accepted, "\(sample.options): without the last 20 bytes")
        }
    }

    /// libde265 does not get repeated equal sets, but it gets sets of other content.
    @Test func onlyRepeatedEqualSetsAreRemoved() throws {
        let stream = try #require(Sample.all.last).stream()
        func sets(_ stream: [UInt8]) -> [Int] {
            units(stream).map { type(of: $0, in: stream) }.filter { (32...34).contains($0) }
        }
        func others(_ stream: [UInt8]) -> [[UInt8]] {
            units(stream).filter { !(32...34).contains(type(of: $0, in: stream)) }.map { Array(stream[$0]) }
        }
        #expect(sets(stream) == [32, 33, 34, 32, 33, 34, 32, 33, 34])
        #expect(units(stream).contains { type(of: $0, in: stream) == 21 }, "no CRA picture")
        #expect(units(stream).contains { (8...9).contains(type(of: $0, in: stream)) }, "no RASL picture")
        let once = ForeignDecoder.withoutRepeatedSets(stream)
        #expect(sets(once) == [32, 33, 34])
        #expect(others(once) == others(stream))
        #expect(ForeignDecoder.withoutRepeatedSets(once) == once)
        // Another sequence's sets follow, and then the first sequence's again.
        let other = try #require(Sample.all.first).stream()
        let mixed = ForeignDecoder.withoutRepeatedSets(stream + other + stream)
        #expect(sets(mixed) == [32, 33, 34, 32, 33, 34, 32, 33, 34])
        // A damaged repetition is kept, with the following sets that depend on it, and the decoder reports it.
        let whole = ForeignDecoder.libde265.decode(stream, codec: .hevc).frames
        for (index, kept) in [(4, [33, 34]), (5, [34])] {
            let unit = units(stream).filter { (32...34).contains(type(of: $0, in: stream)) }[index]
            let damaged = unit.dropFirst(2).map { stream.mutated(at: $0) }
            for each in damaged {
                #expect(sets(ForeignDecoder.withoutRepeatedSets(each)) == [32, 33, 34] + kept + kept)
            }
            let noticed = damaged.count { !accepts(.libde265, $0, as: whole) }
            #expect(noticed > 2, "damage to sets of type \(kept[0])")
        }
    }

    @Test(arguments: ForeignDecoder.all(for: .hevc)) func randomBytesYieldNoFrames(_ decoder: ForeignDecoder) {
        var generator = SplitMix64(state: 3)
        for count in [0, 1, 3, 4, 5, 100, 5000] {
            let rubbish = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(decoder.decode(rubbish, codec: .hevc).frames.isEmpty)
            #expect(decoder.decode([0, 0, 0, 1, 0x26, 0x01] + rubbish, codec: .hevc).frames.isEmpty)
        }
    }

    /// A stream passes with its own reconstruction, and fails with another sample or picture.
    @Test(arguments: Sample.all) fileprivate func changedReconstructionIsAFault(_ sample: Sample) throws {
        let stream = try sample.stream(hash: 1)
        let frames = ForeignDecoder.libde265.decode(stream, codec: .hevc).frames
        let lines = frames.indices.map { "\($0) \($0 == 0 ? "IDR" : "P") \($0) 24 100\n" }.joined()
        let reconstruction = try Reconstruction(frames: frames, text: lines)
        let sound = EncodedStream(stream: stream, codec: .hevc, reconstruction: reconstruction)
        #expect(sound.faults(frameCount: 8) == [])
        #expect(!sound.faults(frameCount: 7).isEmpty)
        for offset in [0, frames[3].bytes.count / 2, frames[3].bytes.count - 1] {
            var damaged = sound
            damaged.reconstruction.frames[3] = try #require(
                PlanarFrame(
                    width: sample.width, height: sample.height, bitDepth: sample.bitDepth,
                    bytes: frames[3].bytes.mutated(at: offset, 1)))
            #expect(damaged.faults(frameCount: 8).count == 2)
        }
    }
}

extension [UInt8] {
    fileprivate func mutated(at offset: Int, _ bits: UInt8 = 0x10) -> [UInt8] {
        var copy = self
        copy[offset] ^= bits
        return copy
    }
}
