internal import VideoBase

extension DeviceReport {
    /// Returns the reports of all render nodes, ordered by number.
    ///
    /// If a node's driver does not start, `usable` is false and `why` has the reason. The driver of each GPU is loaded,
    /// which takes about 10 ms per GPU.
    public static func ofRenderNodes() -> [DeviceReport] {
        RenderNode.all().map { ofRenderNode($0.path) }
    }

    /// Returns the report of the device at the path of a render node. `RenderNode.all()` need not list the path.
    public static func ofRenderNode(_ path: String) -> DeviceReport {
        do {
            return DeviceReport(try Display.open(renderNode: path))
        } catch {
            return DeviceReport(kind: .vaapi, path: path, failure: error)
        }
    }
}
