package import BitstreamInspection

extension H264Stream {
    /// The frames in output order.
    package var framesInOutputOrder: [H264Frame] { frames.sorted { $0.displayIndex < $1.displayIndex } }
}

extension HEVCStream {
    /// The frames in output order, including those that are never output.
    package var framesInOutputOrder: [HEVCFrame] { frames.sorted { $0.displayIndex < $1.displayIndex } }
}
