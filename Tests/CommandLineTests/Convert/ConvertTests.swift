import TestOracles
import Testing

/// `vaenc convert` against FFmpeg's muxer and bit stream filters, on real streams.
@Suite struct ConvertTests {
    /// Returns the concatenated samples that FFmpeg's MP4 muxer writes for a byte stream.
    private func samples(of stream: String, _ sample: StreamSample, in folder: String) throws -> [UInt8] {
        let file = "\(folder)/m.mp4"
        var arguments = ["-f", sample.codec, "-i", stream, "-c", "copy"]
        // With hvc1 the muxer would remove the parameter sets.
        if sample.isHEVC { arguments += ["-tag:v", "hev1"] }
        let run = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [file])
        try #require(run.status == 0, "\(run.errors)")
        let bytes = try Files.read(file)
        var index = 0
        while index + 8 <= bytes.count {
            let size = bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[index + 4..<index + 8].elementsEqual("mdat".utf8) {
                return Self.withoutTrailingZeros(bytes[index + 8..<index + size])
            }
            index += max(size, 8)
        }
        return []
    }

    /// Removes trailing zeros of NAL units: FFmpeg's parser of bare HEVC assigns the zero byte of the next start code
    /// to the previous NAL unit, and its muxer writes it into MP4.
    private static func withoutTrailingZeros(_ samples: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var index = samples.startIndex
        while index + 4 <= samples.endIndex {
            let length = samples[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            var unit = samples[(index + 4)...].prefix(length)
            index += 4 + length
            while unit.last == 0 { unit.removeLast() }
            result += (0..<4).map { UInt8(truncatingIfNeeded: unit.count >> (24 - 8 * $0)) } + unit
        }
        return result
    }

    @Test(arguments: StreamSample.allCases) func realStreamsConvertBothWays(_ sample: StreamSample) throws {
        try Files.withTemporaryFolder { folder in
            let stream = try sample.make(in: folder).stream
            let expected = try samples(of: stream, sample, in: folder)
            let prefixed = "\(folder)/a.avcc"
            let there = try ToolRun(["convert", stream, "-o", prefixed, "--record", "\(folder)/record", "--json"])
            #expect(there.status == 0, "\(there.errorLines)")
            #expect(there.report?["codec"]?.string == sample.codec)
            #expect(there.report?["inputFormat"]?.string == "annexb")
            #expect(there.report?["lengthSize"]?.int == 4)
            #expect(try Files.read(prefixed) == expected)

            let back = "\(folder)/b.\(sample.isHEVC ? "h265" : "h264")"
            let home = try ToolRun(["convert", prefixed, "-o", back, "--record", "\(folder)/record", "--json"])
            #expect(home.status == 0, "\(home.errorLines)")
            #expect(home.report?["nalUnits"]?.int == there.report?["nalUnits"]?.int)
            // Nothing was lost or added: FFmpeg reads the same samples from both.
            #expect(try samples(of: back, sample, in: folder) == expected)
            #expect(try Files.read(back).count == expected.count)

            // If the slices fit, two-byte lengths are used. Both directions run through pipes.
            let size = sample == .bigBuckBunny ? 4 : 2
            let script = #""$0" convert - -o - --format avcc --length-size \#(size) | "$0" convert - -o - --format annexb"#
            let piped = try ProcessRunner.run("bash", ["-c", "set -o pipefail; cat \(stream) | { \(script); }", Checkout.vaenc])
            #expect(piped.status == 0, "\(piped.errors)")
            #expect(try piped.stdout == Files.read(back))
        }
    }

    /// The written record equals FFmpeg's in MP4, and its parameter sets are inserted into a stream that has none.
    @Test func recordMatchesFFmpegAndRestoresParameterSets() throws {
        try Files.withTemporaryFolder { folder in
            let (container, stream) = try StreamSample.bikes.make(in: folder)
            let record = "\(folder)/avcC"
            #expect(try ToolRun(["convert", stream, "-o", "\(folder)/a.avcc", "--record", record]).status == 0)
            let bytes = try Files.read(record)
            // ffmpeg writes its own box when it muxes.
            try ffmpeg("-i", stream, "-c", "copy", "\(folder)/own.mp4")
            let file = try Files.read("\(folder)/own.mp4")
            let offset = try #require(file.indices.dropLast(8).first { file[$0..<$0 + 4].elementsEqual("avcC".utf8) })
            #expect(file[(offset + 4)...].starts(with: bytes))

            // bikes.mp4 has its parameter sets only in the header, so its samples are a stream without any.
            let bare = "\(folder)/bare.avcc"
            try Files.write(try payload(of: container), to: bare)
            let whole = "\(folder)/whole.h264"
            #expect(try ToolRun(["convert", bare, "-o", whole, "--record", record]).status == 0)
            let frames = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", whole])
            #expect(frames.output.filter(\.isNumber) == "250", "\(frames.errors)")
            try ToolRun(["convert", bare, "-o", "\(folder)/x.avcc", "--record", "\(folder)/none", "--length-size", "2"])
                .expectRefusal(65, "no parameter sets", without: ["\(folder)/x.avcc", "\(folder)/none"])
        }
    }

    private func payload(of file: String) throws -> [UInt8] {
        let bytes = try Files.read(file)
        let offset = try #require(bytes.indices.dropLast(8).first { bytes[$0..<$0 + 4].elementsEqual("mdat".utf8) })
        let size = bytes[offset - 4..<offset].reduce(0) { $0 << 8 | Int($1) }
        return Array(bytes[offset + 4..<offset - 4 + size])
    }

    @Test func malformedInputIsRefusedWithoutOutput() throws {
        try Files.withTemporaryFolder { folder in
            let (container, stream) = try StreamSample.carphone.make(in: folder)
            let prefixed = "\(folder)/a.avcc"
            #expect(try ToolRun(["convert", stream, "-o", prefixed]).status == 0)
            let bytes = try Files.read(prefixed)
            let (broken, out) = ("\(folder)/broken.avcc", "\(folder)/out.h264")
            // The offsets of the lengths, which tell where a cut or a bad length is.
            var lengths: [Int] = []
            var index = 0
            while index < bytes.count {
                lengths.append(index)
                index += 4 + bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            #expect(index == bytes.count)
            for cut in [lengths[9] + 2, lengths[20] + 5, bytes.count - 1] {
                let last = lengths.last { $0 < cut } ?? 0
                try Files.write(Array(bytes[..<cut]), to: broken)
                try ToolRun(["convert", broken, "-o", out])
                    .expectRefusal(65, "byte \(cut < last + 4 ? last : last + 4)", without: [out])
            }
            for (offset, words) in [(lengths[7], "at byte \(lengths[7]) is empty"), (lengths[30], "at byte \(lengths[30])")] {
                var bad = bytes
                for byte in offset..<offset + 4 { bad[byte] = 0 }
                try Files.write(bad, to: broken)
                try ToolRun(["convert", broken, "-o", out]).expectRefusal(65, words, without: [out])
            }
            // A slice does not fit a length of one byte.
            try ToolRun(["convert", stream, "-o", out + ".avcc", "--length-size", "1"])
                .expectRefusal(65, "at most 255", without: [out + ".avcc"])
            let cases: [([String], [UInt8], Int, String)] = [
                ([container, "-o", out], [], 65, "neither"), (["-", "-o", out], [], 65, "empty"),
                (["-", "-o", out], Array("no video at all\n".utf8), 65, "neither"),
                (["-", "-o", out, "--input-format", "annexb"], [1, 2, 3], 65, "no start code at byte 0"),
                ([folder + "/nothing.h264", "-o", out], [], 66, "no file"),
                ([stream, "-o", stream], [], 64, "input itself"), ([stream, "-o", prefixed], [], 73, "exists"),
                ([stream, "-o", "\(folder)/x.mp4"], [], 64, "framing"), ([stream, "-o", out, "--length-size", "3"], [], 64, "1, 2 or 4"),
                ([prefixed, "-o", out, "--record", stream], [], 65, "record"),
                ([stream, "-o", "\(folder)/x.h265"], [], 64, "is h264"), ([stream, "-o", "\(folder)/x.hvcc"], [], 64, "means hevc"),
            ]
            for (arguments, input, status, words) in cases {
                try ToolRun(["convert"] + arguments, input: input).expectRefusal(
                    status, words, without: [out, "\(folder)/x.mp4", "\(folder)/x.h265", "\(folder)/x.hvcc"])
            }
            #expect(try Files.read(prefixed) == bytes)
        }
    }

    /// 60 MB pass through a pipe with less than 40 MB of memory.
    @Test func memoryIsConstantOverALongStream() throws {
        try Files.withTemporaryFolder { folder in
            let stream = try StreamSample.carphone.make(in: folder).stream
            let count = 60_000_000 / (Files.size(stream) ?? 1)
            // Measured from a small parent process, because a child's peak size starts as that of its parent.
            let child = """
                import resource, subprocess, sys
                out = subprocess.Popen(["wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                code = subprocess.run([sys.argv[1], "convert", "-", "-o", "-", "--format", "avcc"], stdout=out.stdin).returncode
                out.stdin.close()
                print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, out.stdout.read().decode())
                """
            let script = #"for i in $(seq \#(count)); do cat "$1"; done | python3 -c "$2" "$0""#
            let run = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, stream, child])
            let numbers = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            try #require(numbers.count == 3, "\(run.errors)")
            #expect(numbers[0] == 0)
            #expect(numbers[1] < 40_000)
            #expect(numbers[2] > 59_000_000)
        }
    }
}
