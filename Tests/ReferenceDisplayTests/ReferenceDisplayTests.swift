import ReferenceDisplay
import Testing
import VAAPI
import VideoBase

@Suite struct ReferenceDisplayTests {
    @Test func displayOpensWithoutAGPU() throws {
        let display = try ReferenceDisplay.open()
        #expect(ReferenceDisplay.isInstalled)
        #expect(display.kind == .reference)
        #expect(display.path == nil && display.pciAddress == nil && display.kernelDriver == nil)
        #expect(display.version.hasPrefix("1."))
        #expect(display.vendor.lowercased().contains("vaenc"))
        #expect(display.encodes(.h264, profile: .h264High))
    }

    @Test func displayOpensMoreThanOnce() throws {
        let first = try ReferenceDisplay.open()
        let second = try ReferenceDisplay.open()
        #expect(try first.profiles() == second.profiles())
    }
}
