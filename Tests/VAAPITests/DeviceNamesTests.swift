import Glibc
import Testing
import VideoBase

@testable import VAAPI

@Suite struct DeviceNamesTests {
    @Test(arguments: [
        ("0000:03:00.0", "0000:03:00.0"), ("03:00.0", "0000:03:00.0"), ("0001:AF:1f.7", "0001:af:1f.7"),
        ("10000:e1:00.0", "10000:e1:00.0"),
    ])
    func pciAddressesAreParsed(text: String, long: String) {
        #expect(PCIAddress(text)?.description == long)
        #expect(DeviceSelector(text) == .pci(long))
    }

    @Test(arguments: [
        "", ":", "03:00", "3:00.0", "03:0.0", "03:20.0", "03:00.8", "03:00.", "g3:00.0", "0:03:00.0", "03:00.00",
        "0000:03:00.0:1",
    ])
    func otherTextIsRefused(text: String) {
        #expect(PCIAddress(text) == nil)
        #expect(DeviceSelector(text) == nil)
    }

    @Test func deviceSelectorsAreParsed() {
        #expect(DeviceSelector("auto") == .auto)
        #expect(DeviceSelector("Reference") == .reference)
        #expect(DeviceSelector("software") == .software)
        #expect(DeviceSelector("/dev/dri/renderD128") == .path("/dev/dri/renderD128"))
        #expect(DeviceSelector("hardware") == nil)
        for text in ["auto", "reference", "software", "/dev/dri/renderD129", "0000:00:02.0"] {
            #expect(DeviceSelector(text)?.description == text)
        }
    }

    @Test func missingDeviceIsReported() {
        let error = #expect(throws: VaencError.self) { try Display.open(renderNode: "/dev/dri/renderD999") }
        #expect(error?.category == .unavailable)
        #expect(error?.message == "there is no device /dev/dri/renderD999")
        #expect(error?.remedy?.isEmpty == false)
    }

    @Test(arguments: ["/dev/null", "/dev/dri", "/proc/self/exe", "/"])
    func otherFilesAreNoRenderNodes(path: String) {
        let error = #expect(throws: VaencError.self) { try Display.open(renderNode: path) }
        #expect(error?.category == .unavailable)
        #expect(error?.description.contains(path) == true)
    }

    @Test func descriptorsAreClosedAfterFailures() throws {
        func open() -> Int {
            (0..<256).count { fcntl(Int32($0), F_GETFD) >= 0 }
        }
        // Other tests open files meanwhile, so there are more tries than they could open files.
        let before = open()
        for _ in 0..<200 { _ = try? Display.open(renderNode: "/dev/null") }
        #expect(open() < before + 100)
    }

    @Test func missingPermissionHasItsOwnRemedy() {
        let error = RenderNode.openFailure("/dev/dri/renderD128", EACCES)
        #expect(error.category == .noPermission)
        #expect(error.remedy?.contains("render") == true)
        #expect(RenderNode.openFailure("/dev/x", EMFILE).category == .unavailable)
    }

    @Test func unknownPCIAddressIsReported() {
        let error = #expect(throws: VaencError.self) { try Display.open(pci: "0000:ff:1f.7") }
        #expect(error?.category == .unavailable)
        #expect(error?.message.contains("0000:ff:1f.7") == true)
    }
}
