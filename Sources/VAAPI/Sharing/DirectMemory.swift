internal import VideoBase

/// The memory of a surface in which the program draws without a call of the driver.
protocol DirectMemory: AnyObject, Sendable {
    /// Prepares the memory for writes of the program. Waits for the device if it still uses the memory.
    ///
    /// - Parameter surface: Returns the description of the surface for errors.
    /// - Throws: A `VAError` of status `.timedOut` if the device hangs.
    func beginDrawing(on display: Display, surface: () -> String) throws

    /// Makes the writes of the program visible to the device.
    func endDrawing()

    /// Calls `body` with the planes.
    ///
    /// - Parameter visible: The size of the visible part.
    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) rethrows -> R
}
