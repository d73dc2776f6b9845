internal import VideoBase

extension DeviceReport {
    /// Returns the report of the device at the path of a render node. `RenderNode.all()` need not list the path. If its
    /// driver does not start, `usable` is false and `why` has the reason.
    package static func ofRenderNode(_ path: String) -> DeviceReport {
        do {
            return DeviceReport(try Display.open(renderNode: path))
        } catch {
            return DeviceReport(kind: .vaapi, path: path, failure: error)
        }
    }
}
