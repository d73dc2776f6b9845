internal import VideoBase

extension DeviceReport {
    /// The reports of all render nodes, in their order. A node that does not start has `usable` false and says why.
    /// Loads each GPU's driver: some 10 ms each.
    public static func ofRenderNodes() -> [DeviceReport] {
        RenderNode.all().map { ofRenderNode($0.path) }
    }

    /// The report of the device at a render node's path, listed or not.
    public static func ofRenderNode(_ path: String) -> DeviceReport {
        do {
            return DeviceReport(try Display.open(renderNode: path))
        } catch {
            return DeviceReport(kind: .vaapi, path: path, failure: error)
        }
    }
}
