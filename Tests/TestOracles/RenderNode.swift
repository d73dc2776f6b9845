/// A DRM render node without a GPU (Tests/FakeNode/node.c) for programs that take no other display.
public enum RenderNode {
    private static let library = Result { try PreloadedLibrary.compile("FakeNode/node.c", libraries: ["-ldl"]) }

    /// Like ProcessRunner.run, with the node, and with libva pointed at the driver just built.
    public static func runOnDriver(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 120
    ) throws -> ProcessRunner.Result {
        var variables = Checkout.driverEnvironment
        variables["LIBVA_MESSAGING_LEVEL"] = "0"
        variables["LD_PRELOAD"] = PreloadedLibrary.variable([try library.get()])
        for (name, value) in environment { variables[name] = value }
        return try ProcessRunner.run(program, arguments, environment: variables, timeout: timeout)
    }

    /// Like runOnDriver, with another library preloaded before.
    public static func runOnDriver(
        behind preloaded: String, _ program: String, _ arguments: [String], environment: [String: String?] = [:]
    ) throws -> ProcessRunner.Result {
        let libraries = PreloadedLibrary.variable([preloaded, try library.get()])
        return try runOnDriver(
            program, arguments, environment: environment.merging(["LD_PRELOAD": libraries]) { given, _ in given })
    }
}
