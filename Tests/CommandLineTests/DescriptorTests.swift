import TestOracles
import Testing

@Suite struct DescriptorTests {
    /// The table of descriptors has its size before there are threads, which would make its growth wait.
    @Test func theTableIsLargeFromTheStart() throws {
        // The pipe opens for writing when vaenc opens it for reading.
        let script = """
            mkfifo in.y4m
            "$1" encode in.y4m -o out.h264 --device reference &
            exec 3>in.y4m
            ulimit -n
            sed -n 's/^FDSize:[[:space:]]*//p' /proc/$!/status
            kill -KILL $!
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                "sh", ["-c", script, "sh", Checkout.vaenc], directory: folder, timeout: 60)
            let numbers = result.output.split(separator: "\n").map { Int($0) ?? .max }
            try #require(numbers.count == 2, "\(result.output)\(result.errors)")
            #expect(numbers[1] >= min(numbers[0], 1024))
        }
    }
}
