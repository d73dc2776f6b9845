import TestOracles
import Testing

/// Encodes with as many pictures as a film, on a small stack: a cost that grows with each picture is visible at the
/// end.
@Suite struct LongEncodeTests {
    /// 20 minutes at 25 frames a second.
    private static let pictures = 30_000

    @Test("An encode of 30,000 pictures ends well on a stack of 512 kB")
    func longEncodeFitsASmallStack() throws {
        try Files.withTemporaryFolder { folder in
            let run = try Self.encode(["--bframes", "0", "-o", "long.mp4"], frames: Self.pictures, folder)
            try #require(run.status == 0, "\(run.status) \(run.errors)")
            #expect(try Self.packets("long.mp4", folder) == Self.pictures)
        }
    }

    @Test("A device that is lost after 20,000 pictures costs no more than one lost after 20", arguments: ["vaEndPicture", "vaSyncBuffer"])
    func lateDeviceLossCostsNoMore(_ call: String) throws {
        try Files.withTemporaryFolder { folder in
            func kept(after count: Int) throws -> Int {
                let run = try Self.encode(
                    ["--bframes", "2", "-o", "\(count).mp4"], frames: count + 100, folder,
                    environment: ["VAENC_FAULT": "\(call)@\(count)=lost"])
                try #require(run.status == 0, "\(call)@\(count): \(run.status) \(run.errors)")
                let packets = try Self.packets("\(count).mp4", folder)
                return try #require(packets)
            }
            let (early, late) = (try kept(after: 20), try kept(after: 20_000))
            // A lost device loses the pictures in flight, whose number differs from run to run.
            #expect(early >= 110 && late >= 20_090, "\(early) of 120, \(late) of 20,100")
        }
    }

    @Test("Memory does not grow with the number of pictures", arguments: ["h264", "hevc"])
    func memoryDoesNotGrowWithPictures(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            func peak(_ frames: Int) throws -> Int {
                let run = try ProcessRunner.runMeasuringMemory(
                    Checkout.vaenc,
                    [
                        "encode", "testsrc:64x64@25:\(frames)", "--device", "reference", "--codec", codec, "--bframes", "2",
                        "--rate-control", "cbr", "--bitrate", "200k", "-o", "\(frames).\(codec)",
                    ], environment: ["VAENC_REFERENCE_MODE": "null"], directory: folder, timeout: 1800)
                try #require(run.status == 0, "\(run.errors)")
                return run.peakKB * 1024
            }
            let (few, many) = (2_000, 20_000)
            // The variation between runs is below 3 MB; 450 bytes a picture would be 8 MB.
            let growth = try peak(many) - peak(few)
            #expect(growth < 3_000_000 + (many - few) * 10)
        }
    }

    private static func encode(
        _ arguments: [String], frames: Int, _ folder: String, environment: [String: String?] = [:]
    ) throws -> ProcessRunner.Result {
        let options =
            ["encode", "testsrc:64x64@25:\(frames)", "--device", "reference", "--codec", "h264", "--qp", "40", "--preset", "7"] + arguments
        return try ProcessRunner.run(
            "/bin/sh", ["-c", "ulimit -s 512; exec \"$@\"", "sh", Checkout.vaenc] + options, environment: environment,
            directory: folder, timeout: 1800)
    }

    /// Returns the number of packets in a file, as FFmpeg counts them.
    private static func packets(_ file: String, _ folder: String) throws -> Int? {
        let probe = try ProcessRunner.run(
            "ffprobe",
            ["-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", file], directory: folder)
        return Int(probe.output.split(separator: "\n").first?.split(separator: ",").first ?? "")
    }
}
