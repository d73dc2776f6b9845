/// A DRM render node without a GPU (Tests/FakeNode/node.c), for programs that accept no other display.
public enum RenderNode {
    private static let library = Result { try PreloadedLibrary.compile("FakeNode/node.c", libraries: ["-ldl"]) }

    /// Runs a program like `ProcessRunner.run`, with the render node, and with the driver just built for libva.
    public static func runOnDriver(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 600
    ) throws -> ProcessRunner.Result {
        var variables = Checkout.driverEnvironment
        variables["LIBVA_MESSAGING_LEVEL"] = "0"
        variables["LD_PRELOAD"] = PreloadedLibrary.variable([try library.get()])
        for (name, value) in environment { variables[name] = value }
        return try ProcessRunner.run(program, arguments, environment: variables, timeout: timeout)
    }

    /// Runs a program like `runOnDriver`, with another library preloaded before the render node's.
    public static func runOnDriver(
        behind preloaded: String, _ program: String, _ arguments: [String], environment: [String: String?] = [:]
    ) throws -> ProcessRunner.Result {
        let libraries = PreloadedLibrary.variable([preloaded, try library.get()])
        return try runOnDriver(
            program, arguments, environment: environment.merging(["LD_PRELOAD": libraries]) { given, _ in given })
    }
}
