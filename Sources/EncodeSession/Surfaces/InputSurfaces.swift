package import VAAPI
package import VideoBase

/// The surfaces that an encoder reads its pictures from.
package struct InputSurfaces: Sendable {
    /// The display that the encoder uses now.
    package var display: Display
    /// The number of surfaces. An encoder delivers a packet before it holds more pictures than this.
    package var count: Int
    /// The size of a surface in luma samples.
    package var size: VideoSize
    /// The size of the visible part.
    package var visible: VideoSize
    package var format: PixelFormat
    /// Whether the program writes them quickly but reads them slowly.
    package var isSlowToRead = false

    /// Whether several encoders on the display can read one surface.
    package var canBeShared: Bool { display.sharesSurfaces }

    /// Whether an encoder with the surfaces `other` can read its pictures from these surfaces instead, without a copy
    /// and without waiting for a surface that it holds itself.
    package func serve(_ other: InputSurfaces) -> Bool {
        let available = size.aligned(to: 16)
        return canBeShared && display === other.display && format == other.format && visible == other.visible && count >= other.count
            && available.width >= other.size.width && available.height >= other.size.height
    }
}
