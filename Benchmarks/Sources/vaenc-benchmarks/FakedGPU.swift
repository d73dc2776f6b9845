import Glibc

/// GPUs whose kernel driver is faked, so that the vendor's own driver runs (`SHARED`/tools/fakegpu).
enum FakedGPU {
    /// Whether the tool is there.
    static var isPresent: Bool { unsafe getenv("VAENC_FAKEGPU") != nil }

    /// Returns the command that runs `command` on the GPU; `command` itself if `gpu` is nil.
    static func command(_ gpu: String?, _ command: [String]) throws -> [String] {
        guard let gpu else { return command }
        guard let tools = unsafe getenv("VAENC_FAKEGPU") else {
            throw Unmeasurable(description: "needs the faked GPUs: SHARED=… names the folder with tools/fakegpu")
        }
        return [unsafe String(cString: tools) + "/run", gpu] + command
    }
}
