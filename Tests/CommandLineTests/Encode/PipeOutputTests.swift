import TestOracles
import Testing

/// Named pipes as outputs.
@Suite struct PipeOutputTests {
    /// The first signal ends the wait for a reader at any time.
    @Test(arguments: ["INT", "TERM"], [["encode", "testsrc:64x64@25:5"], ["decode", "in.y4m"]])
    func signalEndsTheWaitForAReader(signal: String, command: [String]) throws {
        let script = """
            mkfifo a.pipe
            for delay in 0 0.1 0.7; do
                "$@" 2>log &
                # The shell's child ignores SIGINT before it becomes vaenc, and loses one that is pending.
                until grep -qx vaenc /proc/$!/comm && grep -q '^SigBlk:.*[1-9a-f]' /proc/$!/status; do kill -0 $! || break; sleep 0.01; done
                sleep $delay
                kill -\(signal) $!; wait $!; echo $?
                [ $(wc -l <log) = 1 ] || cat log
            done
            """
        try Files.withTemporaryFolder { folder in
            try Files.write(Array("YUV4MPEG2 W16 H16 F25:1\nFRAME\n".utf8) + [UInt8](repeating: 9, count: 384), to: folder + "/in.y4m")
            let output = command[0] == "encode" ? ["-o", "a.pipe", "--format", "annexb"] : ["-o", "a.yuv"]
            if command[0] == "decode" {
                _ = try ProcessRunner.run("mkfifo", ["a.yuv"], directory: folder)
            }
            let result = try ProcessRunner.run(
                "bash", ["-c", script, "bash", Checkout.vaenc] + command + output + ["--device", "software"], directory: folder)
            #expect(result.output == "130\n130\n130\n", "\(result.output)\(result.errors)")
        }
    }

    @Test func lateReaderGetsTheWholeStream() throws {
        let script = """
            mkfifo a.h264
            "$0" encode testsrc:64x64@25:5 -o a.h264 --device software 2>log &
            # It waits for the reader when all of its threads sleep.
            until grep -sqx vaenc /proc/$!/comm && grep -q '^SigBlk:.*[1-9a-f]' /proc/$!/status \\
                && ! grep -q '^State:.[^S]' /proc/$!/task/*/status; do kill -0 $! || break; sleep 0.1; done
            cat a.h264 >b.h264
            wait $!; echo $?
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            #expect(result.output == "0\n", "\(result.output)\(result.errors)")
            let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/b.h264"))
            #expect(video.frames.count == 5 && video.messages.isEmpty)
        }
    }
}
