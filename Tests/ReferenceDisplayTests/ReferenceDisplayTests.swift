import Glibc
import ReferenceDisplay
import Testing
import VAAPI
import VideoBase

/// Serialized: these tests change the environment, which displays read when they open.
@Suite(.serialized) struct ReferenceDisplayTests {
    private func with<R>(_ name: String, _ value: String?, _ body: () throws -> R) rethrows -> R {
        let before = Environment.value(name)
        func set(_ value: String?) {
            if let value { unsafe setenv(name, value, 1) } else { unsafe unsetenv(name) }
        }
        set(value)
        defer { set(before) }
        return try body()
    }

    @Test func startsWithoutAGPU() throws {
        let display = try ReferenceDisplay.open()
        #expect(ReferenceDisplay.isInstalled)
        #expect(display.kind == .reference)
        #expect(display.path == nil && display.pciAddress == nil && display.kernelDriver == nil)
        #expect(display.version.hasPrefix("1."))
        #expect(display.vendor.lowercased().contains("vaenc"))
        #expect(display.encodes(.h264, profile: .h264High))
    }

    @Test func opensMoreThanOnce() throws {
        let first = try ReferenceDisplay.open()
        let second = try ReferenceDisplay.open()
        #expect(try first.profiles() == second.profiles())
    }

    @Test func aUsersDriverNameDoesNotTakeItsPlace() throws {
        let display = try with("LIBVA_DRIVER_NAME", "iHD") { () throws -> Display in
            let display = try ReferenceDisplay.open()
            // Put back: a GPU's display opened next needs it.
            #expect(Environment.value("LIBVA_DRIVER_NAME") == "iHD")
            return display
        }
        #expect(display.vendor.lowercased().contains("vaenc"))
    }

    @Test func theSearchPathIsPutBack() throws {
        try with("LIBVA_DRIVERS_PATH", "/nowhere:/else") {
            _ = try ReferenceDisplay.open()
            #expect(Environment.value("LIBVA_DRIVERS_PATH") == "/nowhere:/else")
        }
        try with("LIBVA_DRIVERS_PATH", nil) {
            _ = try ReferenceDisplay.open()
            #expect(Environment.value("LIBVA_DRIVERS_PATH") == nil)
        }
    }
}
