import TestOracles
import Testing

/// In each run, one allocation in FFmpeg's libraries fails. The command either reports an error in one line or writes
/// its whole result. It never crashes in our code, frees memory twice, or leaves half an output.
///
/// The suite fails a few of the thousands of allocations of each command. With `VAENC_ALLOCATION_SWEEP=all` it fails
/// every one (make test-allocations).
@Suite struct AllocationFailureTests {
    private static let commands: [[String]] = [
        ["encode", "clip.mp4", "--device", "software", "-o", "o.mp4"],
        [
            "encode", "clip.mp4", "--device", "software", "--codec", "hevc", "--size", "48x32", "--audio", "aac", "-o",
            "o.mkv",
        ],
        ["encode", "clip.mp4", "--device", "reference", "--codec", "h264", "-o", "o.ts"],
        ["decode", "clip.mp4", "--device", "software", "-o", "o.y4m"],
        ["decode", "clip.mp4", "--device", "reference", "-o", "o.nv12"],
        ["remux", "clip.mp4", "-o", "o.mkv"], ["remux", "clip.mp4", "-o", "o.m3u8"],
        ["inspect", "clip.mp4"], ["compare", "clip.mp4", "clip.mp4", "--size", "32x32"],
        ["capture", "/dev/video9", "--capture-size", "64x48", "--frames", "3", "--device", "software", "-o", "o.mp4"],
        ["bench", "clip.mp4", "--device", "software", "--qp", "30,34", "--frames", "3", "--no-ffmpeg"],
    ]

    private static func makeClip(in folder: String) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.12", "-f", "lavfi", "-i", "sine=d=0.12", "-c:v", "libx264",
            "-preset",
            "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", folder + "/clip.mp4")
    }

    @Test(arguments: commands) func failedAllocationIsAnErrorOrHarmless(_ command: [String]) throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            let command = command.map { $0 == "clip.mp4" ? "\(folder)/clip.mp4" : $0 }
            let count = try Files.withTemporaryFolder {
                try FailingAllocations.count(Checkout.vaenc, command, beside: Self.cameras(command), directory: $0)
            }
            #expect(count > 300, "\(command)")
            // Eight allocations, evenly spread over the run.
            let numbers = FailingAllocations.sweepsAll ? Array(1...count) : (0..<8).map { (2 * $0 + 1) * count / 16 }
            for number in numbers { try Files.withTemporaryFolder { try Self.fail(number, command, in: $0) } }
        }
    }

    /// libavformat reports no error if it lacks the memory to rename a playlist at the end.
    @Test func failedPlaylistRenameIsReported() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            let command = ["remux", folder + "/clip.mp4", "-o", "o.m3u8"]
            let count = try Files.withTemporaryFolder {
                try FailingAllocations.count(Checkout.vaenc, command, directory: $0)
            }
            for number in max(count - 40, 1)...count { try Files.withTemporaryFolder { try Self.fail(number, command, in: $0) } }
        }
    }

    /// Returns the environment that simulates the camera, if the command uses one.
    private static func cameras(_ command: [String]) throws -> [String: String?] {
        command[0] == "capture" ? try FakeCameras.environment("9:formats=YUYV,sizes=64x48,rate=50") : [:]
    }

    private static func fail(_ number: Int, _ command: [String], in folder: String) throws {
        let run = try ProcessRunner.run(
            Checkout.vaenc, command, environment: FailingAllocations.environment(failing: number, beside: cameras(command)),
            directory: folder)
        let what = "allocation \(number) of \(command): \(run.status) \(run.errors)"
        #expect(!run.timedOut, "\(what)")
        #expect([0, 65, 69, 74, 75, FailingAllocations.libraryFault].contains(run.status), "\(what)")
        let left = Set(Files.list(folder))
        if run.status == 0 {
            if let index = command.firstIndex(of: "-o") { #expect(left.contains(command[index + 1]), "\(what)") }
            #expect(!left.contains { $0.hasSuffix(".tmp") }, "\(what)")
        } else if run.status != FailingAllocations.libraryFault {
            // The benchmark prints its progress, and a recording prints the name of its camera.
            let notices = ["vaenc: bench: ", "vaenc: capturing from "]
            #expect(run.errorLines.filter { line in !notices.contains { line.hasPrefix($0) } }.count == 1, "\(what)")
            // Segments of a playlist are written under their final names.
            if !command.contains("o.m3u8") { #expect(left.isEmpty, "\(what)") }
        }
    }
}
