internal import VideoBase

/// The kinds of memory in which the program draws without a call of the driver.
package enum DirectMemoryKind: Sendable, Hashable {
    /// The program's memory, at an address that the driver knows.
    case userPointer
    /// Linear memory of the driver, which it exported as a DMA-BUF.
    case exported
    /// The program's memory, which the driver imported as a DMA-BUF.
    case udmabuf
}

/// The memory of a surface in which the program draws without a call of the driver.
protocol DirectMemory: AnyObject, Sendable {
    var kind: DirectMemoryKind { get }

    /// Prepares the memory for the program. Waits for the device if it still uses the memory.
    ///
    /// - Parameter surface: Returns the description of the surface for errors.
    /// - Throws: A `VAError`, of status `.timedOut` if the device hangs.
    func beginDrawing(_ access: Surface.Access, on display: Display, surface: () -> String) throws

    /// Makes the writes of the program visible to the device.
    ///
    /// - Parameters:
    ///   - access: The same value as for `beginDrawing`.
    ///   - surface: Returns the description of the surface for errors.
    /// - Throws: A `VAError` if the kernel refuses this.
    func endDrawing(_ access: Surface.Access, surface: () -> String) throws

    /// Calls `body` with the planes.
    ///
    /// - Parameter visible: The size of the visible part.
    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) rethrows -> R
}
