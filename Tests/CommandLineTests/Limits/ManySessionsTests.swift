import TestOracles
import Testing

/// Many sessions in one process: a server that records many cameras, or writes many variants.
@Suite struct ManySessionsTests {
    private static let width = 320
    private static let height = 180
    private static let frameCount = 6

    /// The threads, the resident memory in kB and the outputs of a process with `count` sessions, after the last frame
    /// that it has read so far.
    private func measure(_ count: Int, _ clip: String, in folder: String) throws -> (threads: Int, memory: Int, outputs: [[UInt8]]) {
        let script = """
            mkfifo in.y4m
            vaenc=$1 clip=$2 count=$3
            shift 3
            "$vaenc" encode in.y4m --device reference --codec h264 --preset 7 --qp 30 --bframes 0 "$@" >/dev/null &
            exec 3>in.y4m
            cat "$clip" >&3
            # All sessions exist, and all threads wait.
            until [ $(cat /proc/$!/task/*/comm 2>/dev/null | grep -cx vaenc-gpu) -ge $((2 * count)) ] \\
                && ! grep -qs '^State:.[^S]' /proc/$!/task/*/status; do kill -0 $! || exit 1; sleep 0.05; done
            sed -n 's/^Threads:[[:space:]]*//p; s/^VmRSS:[[:space:]]*\\([0-9]*\\).*/\\1/p' /proc/$!/status
            exec 3>&-
            wait $!
            """
        let names = (0..<count).map { "o\($0).h264" }
        let result = try ProcessRunner.run(
            "sh", ["-c", script, "sh", Checkout.vaenc, clip, "\(count)"] + names.flatMap { ["-o", $0] }, directory: folder)
        let numbers = result.output.split(separator: "\n").compactMap { Int($0) }
        try #require(result.status == 0 && numbers.count == 2, "\(result.status): \(result.output)\(result.errors)")
        return (numbers[1], numbers[0], try names.map { try Files.read("\(folder)/\($0)") })
    }

    /// A session has at most three threads, and the reference driver one more for it. The memory of 200 sessions grows with their number alone, and each stream
    /// equals that of a session of its own.
    @Test func twoHundredSessionsHaveBoundedThreadsAndMemory() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-i", Fixture.bigBuckBunny.path(), "-vf", "scale=\(Self.width):\(Self.height)", "-frames:v", "\(Self.frameCount)", "-pix_fmt",
                "yuv420p", folder + "/clip.y4m")
            func run(_ count: Int) throws -> (threads: Int, memory: Int, outputs: [[UInt8]]) {
                try Files.withTemporaryFolder { try measure(count, folder + "/clip.y4m", in: $0) }
            }
            let (one, many) = (try run(1), try run(200))
            #expect(many.threads - one.threads <= 4 * 199, "\(one.threads) and \(many.threads) threads")
            #expect(many.memory - one.memory <= 199 * 4096, "\(one.memory) and \(many.memory) kB")
            #expect(many.outputs.allSatisfy { $0 == one.outputs[0] } && one.outputs[0].count > 1000)
        }
    }
}
