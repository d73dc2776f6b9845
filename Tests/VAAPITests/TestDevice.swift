import ReferenceDisplay
import VAAPI

/// The device that the tests run on: the reference driver, or the render node that VAENC_TEST_DEVICE names, so that
/// the same tests also judge real drivers.
enum TestDevice {
    static func open() throws -> Display {
        if let path = Environment.value("VAENC_TEST_DEVICE") { return try Display.open(renderNode: path) }
        return try ReferenceDisplay.open()
    }

    static var isReference: Bool { Environment.value("VAENC_TEST_DEVICE") == nil }

    /// An H.264 encoder's entry point, the slice one where there are both.
    static func entryPoint(_ display: Display) throws -> EntryPoint {
        let all = try display.entryPoints(of: .h264High)
        return all.contains(.encodeSlice) ? .encodeSlice : .encodeSliceLowPower
    }
}
