import TestOracles
import Testing

/// A survived fault is in the report. A fatal one is reported in one line and leaves no file.
@Suite struct SurvivalReportTests {
    private func encode(
        _ fault: String?, _ options: [String] = [], _ body: (ProcessRunner.Result, String) throws -> Void
    ) throws {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", "testsrc:128x96@25:20", "--device", "reference", "--qp", "30", "--json", "-o", "o.h264"] + options,
                environment: ["VAENC_FAULT": fault], directory: folder)
            try body(result, folder)
        }
    }

    @Test func runWithoutFaultsReportsNone() throws {
        try encode(nil) { result, _ in
            let counts = JSONValue(result.output)?["statistics"]
            #expect(counts?["taken"]?.int == 20 && counts?["delivered"]?.int == 20)
            #expect(counts?["dropped"]?.int == 0 && counts?["retried"]?.int == 0 && counts?["rebuilds"]?.int == 0)
        }
    }

    @Test func survivedFaultIsCounted() throws {
        try encode("vaEndPicture@7=status:24") { result, folder in
            #expect(result.status == 0, "\(result.errors)")
            let report = JSONValue(result.output)
            #expect(report?["statistics"]?["rebuilds"]?.int == 1)
            #expect((report?["statistics"]?["retried"]?.int ?? 0) >= 1)
            #expect(report?["frames"]?["encoded"]?.int == 20 && report?["frames"]?["dropped"]?.int == 0)
            let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/o.h264"))
            #expect(video.frames.count == 20 && video.messages.isEmpty, "\(video.messages)")
        }
    }

    @Test func permanentDeviceFaultIsReported() throws {
        try encode("vaEndPicture@5+=status:24") { result, folder in
            #expect(result.status == 75, "\(result.errors)")
            #expect(result.errorLines.count == 1 && result.errors.contains("vaEndPicture"), "\(result.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// After Ctrl-C the file is finished and the report says that it was interrupted.
    @Test func interruptionIsReported() throws {
        let script = """
            mkfifo pipe
            "$0" encode - --input-size 64x48 --input-format nv12 --device reference --qp 4 --json -o o.h264 <pipe >report 2>log &
            exec 3>pipe
            head -c 921600 /dev/urandom >&3
            while ! [ -s o.h264.part ] && kill -0 $!; do :; done
            kill -INT $!; wait $!; echo $?
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(result.output == "130\n", "\(result.errors)")
            let report = JSONValue(String(decoding: try Files.read(folder + "/report"), as: UTF8.self))
            #expect(report?["interrupted"]?.bool == true)
            let frames = try #require(report?["frames"]?["encoded"]?.int)
            #expect(report?["statistics"]?["delivered"]?.int == frames && frames > 0)
            let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/o.h264"))
            #expect(video.frames.count == frames && video.messages.isEmpty, "\(video.messages)")
        }
    }
}
