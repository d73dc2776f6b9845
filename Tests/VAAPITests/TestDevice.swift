import ReferenceDisplay
import VAAPI

/// The device of the tests: the reference driver, or the render node in VAENC_TEST_DEVICE, so that the same tests also
/// check real drivers.
enum TestDevice {
    static func open() throws -> Display {
        if let path = Environment.value("VAENC_TEST_DEVICE") { return try Display.open(renderNode: path) }
        return try ReferenceDisplay.open()
    }

    static var isReference: Bool { Environment.value("VAENC_TEST_DEVICE") == nil }

    /// Returns an entry point of an H.264 encoder; if both exist, the slice entry point.
    static func entryPoint(_ display: Display) throws -> EntryPoint {
        let all = try display.entryPoints(of: .h264High)
        return all.contains(.encodeSlice) ? .encodeSlice : .encodeSliceLowPower
    }
}
