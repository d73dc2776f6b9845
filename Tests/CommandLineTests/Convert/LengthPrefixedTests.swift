import TestOracles
import Testing

/// Length-prefixed streams (`.avcc`, `.hvcc`) as outputs and inputs of each command. They equal what `vaenc convert`,
/// which ConvertTests checks, makes of the stream with start codes.
@Suite struct LengthPrefixedTests {
    private func run(_ arguments: [String], input: [UInt8] = [], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, arguments, input: input, directory: folder)
    }

    private func succeed(_ arguments: String..., in folder: String) throws {
        let result = try run(arguments, in: folder)
        try #require(result.status == 0, "\(arguments): \(result.errors)")
    }

    /// Returns what `vaenc convert` makes of a stream with start codes.
    private func converted(_ stream: String, in folder: String) throws -> [UInt8] {
        try succeed("convert", stream, "-o", "converted.avcc", "--overwrite", in: folder)
        return try Files.read("\(folder)/converted.avcc")
    }

    private func pictures(_ path: String, in folder: String) throws -> [UInt8] {
        let result = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "nv12", "-"],
            directory: folder)
        #expect(result.status == 0, "\(result.errors)")
        return result.stdout
    }

    @Test(arguments: StreamCodec.allCases) func everyCommandHandlesLengthPrefixedStreams(_ codec: StreamCodec) throws {
        try Files.withTemporaryFolder { folder in
            let (plain, prefixed) = codec == .hevc ? ("a.h265", "a.hvcc") : ("a.h264", "a.avcc")
            let clip = try Fixture.carphone.path()
            let encoding = [
                "encode", clip, "--device", "reference", "--frames", "12", "--qp", "30", "--bframes", "2", "--gop", "6", "--size", "96x64",
            ]
            let encoded = try run(encoding + ["-o", plain, "-o", prefixed, "-o", "a.mp4", "--codec", codec.rawValue], in: folder)
            try #require(encoded.status == 0, "\(encoded.errors)")
            let stream = try Files.read("\(folder)/\(prefixed)")
            #expect(try stream == converted(plain, in: folder))

            // From a container, and into one: the times are those of the stream with start codes.
            try succeed("remux", "a.mp4", "-o", "r.\(prefixed.dropFirst(2))", in: folder)
            try succeed("remux", "a.mp4", "-o", "r.\(plain.dropFirst(2))", in: folder)
            #expect(try Files.read("\(folder)/r.\(prefixed.dropFirst(2))") == converted("r.\(plain.dropFirst(2))", in: folder))
            try succeed("remux", prefixed, "-o", "b.mp4", "--fps", "25", in: folder)
            try succeed("remux", plain, "-o", "c.mp4", "--fps", "25", in: folder)
            #expect(try Files.read("\(folder)/b.mp4") == Files.read("\(folder)/c.mp4"))

            // From a file and from a pipe, the pictures equal ffmpeg's of the stream with start codes.
            let expected = try pictures(plain, in: folder)
            #expect(expected.count == 12 * 96 * 64 * 3 / 2)
            try succeed("decode", prefixed, "-o", "a.nv12", in: folder)
            #expect(try Files.read("\(folder)/a.nv12") == expected)
            #expect(try run(["decode", "-", "-o", "p.nv12"], input: stream, in: folder).status == 0)
            #expect(try Files.read("\(folder)/p.nv12") == expected)
            let again = try EncodeRun([prefixed, "--device", "software", "--codec", "h264", "-o", "x.mp4", "--json"], in: folder)
            #expect(again.status == 0 && again.report?["frames"]?["encoded"]?.int == 12, "\(again.errors)")
            let inspected = try run(["inspect", prefixed, "--json"], in: folder)
            #expect(JSONValue(inspected.output)?["frames"]?.array.count == 12)

            // A cut stream or a wrong length is reported as damage with its position, and no file is left.
            let before = Files.list(folder) + ["bad.avcc"]
            let last = stream.count - 5
            var wrong = stream
            wrong[0] = 1
            try Files.write(Array(stream[..<last]), to: "\(folder)/bad.avcc")
            for command in [["decode", "-o", "y.y4m"], ["remux", "-o", "y.mp4"], ["encode", "-o", "y.h264", "--device", "software"]] {
                let result = try run(command + ["bad.avcc"], in: folder)
                #expect(result.status == 65 && result.errors.contains("ends inside the NAL unit"), "\(command): \(result.status) \(result.errors)")
                #expect(Files.list(folder) == before.sorted())
            }
            try Files.write(wrong, to: "\(folder)/bad.avcc")
            #expect(try run(["decode", "bad.avcc", "-o", "y.y4m"], in: folder).status == 65)
        }
    }

    /// The extension implies the codec: `.hvcc` is HEVC; `.avcc` is H.264 unless another codec is requested.
    @Test func extensionImpliesTheCodec() throws {
        try Files.withTemporaryFolder { folder in
            let some = ["testsrc:64x48@25:2", "--device", "reference", "--json"]
            for (arguments, codec) in [(["-o", "a.avcc"], "h264"), (["-o", "a.hvcc"], "hevc"), (["-o", "b.avcc", "--codec", "hevc"], "hevc")] {
                let result = try EncodeRun(some + arguments, in: folder)
                #expect(result.status == 0 && result.report?["codec"]?.string == codec, "\(arguments): \(result.errors)")
            }
            let before = Files.list(folder)
            #expect(try EncodeRun(some + ["-o", "c.hvcc", "--codec", "h264"], in: folder).status == 64)
            #expect(try EncodeRun(some + ["-o", "c.avcc", "--format", "mp4"], in: folder).status == 64)
            #expect(Files.list(folder) == before)
        }
    }
}
