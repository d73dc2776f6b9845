package import VideoBase

/// Converts pictures that a session cannot copy into its surfaces: pictures of another bit depth, or of a layout other
/// than NV12, I420, YV12 and the 10-bit equivalents.
package protocol PictureConversion: Sendable {
    /// Writes the picture of `source` over the visible part of `destination`, which has the same size. Several threads
    /// may call this method at the same time.
    ///
    /// - Throws: An error if the conversion is not possible.
    func convert(_ source: PixelPlanes, to destination: PixelPlanes) throws
}
