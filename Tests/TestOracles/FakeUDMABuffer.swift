/// A kernel's udmabuf device without a kernel: a library for LD_PRELOAD (Tests/FakeUDMABuffer).
public enum FakeUDMABuffer {
    /// The device's behavior.
    public enum Mode: String, Sendable {
        case works, absent, denied, refuses
        /// The program's writes do not reach the DMA-BUFs.
        case other
        /// The end of the third access fails.
        case lost
        /// The end of the third access and of all later ones fails.
        case failing
        /// The beginning of each access fails.
        case unusable
    }

    private static let compiled = Result { try PreloadedLibrary.compile("FakeUDMABuffer/udmabuf.c", libraries: ["-ldl"]) }

    /// The path of the library.
    public static var library: String { get throws { try compiled.get() } }

    /// Returns the environment in which a program sees the device.
    ///
    /// - Parameter log: The file to which each process appends its counts.
    public static func environment(_ mode: Mode, log: String? = nil) throws -> [String: String?] {
        ["LD_PRELOAD": PreloadedLibrary.variable([try library]), "FAKE_UDMABUF": mode.rawValue, "FAKE_UDMABUF_LOG": log]
    }
}
