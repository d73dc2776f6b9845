import CSDL
public import VideoBase

/// A window that shows pictures, by SDL2.
///
/// A thread of its own has the window and all that belongs to it. It shows the newest picture; one that comes before the
/// last was shown replaces it. Any thread may call.
public final class PreviewWindow: Sendable {
    private let link: Monitor<WindowLink>
    /// Of the pictures, and of the window unless the user changes that.
    public let size: VideoSize

    /// Whether a window can be shown at all.
    ///
    /// - Throws: `unavailable` without SDL2 or a display.
    public static func check() throws(VaencError) {
        // SAFETY: SDL counts how often a part of it was asked for.
        let sdl = unsafe try WindowThread.load()
        unsafe try WindowThread.begin(sdl)
        unsafe sdl.pointee.SDL_QuitSubSystem!(SDL_INIT_VIDEO)
    }

    /// The size of a picture scaled to what most screens have room for, with even sides.
    public static func fitting(_ size: VideoSize) -> VideoSize {
        let scale = min(1, 960 / Double(max(size.width, 1)), 720 / Double(max(size.height, 1)))
        func side(_ value: Int) -> Int { max(2, Int((Double(value) * scale / 2).rounded()) * 2) }
        return VideoSize(width: side(size.width), height: side(size.height))
    }

    /// Opens a window and waits until it is there.
    ///
    /// - Throws: `unavailable` without SDL2 or a display.
    public init(title: String, size: VideoSize) throws {
        let link = Monitor(WindowLink(title: title))
        self.link = link
        self.size = size
        guard OwnThread.start({ WindowThread.run(size, link) }) else {
            throw VaencError.noThread("for the preview")
        }
        let isThere: Bool? = try link.wait(atMostNanoseconds: 10_000_000_000) { link in
            if let failure = link.failure { throw failure }
            return link.isOpen ? true : nil
        }
        if isThere == nil {
            link.withLock { $0.isClosing = true }
            throw VaencError(.unavailable, "the preview does not open", remedy: "look at DISPLAY, or leave out `preview`")
        }
    }

    deinit { link.withLock { $0.isClosing = true } }

    /// Neither the user nor `close` has closed it.
    public var isOpen: Bool { link.withLockWithoutNotifying { $0.isOpen && !$0.isClosing } }

    public func setTitle(_ title: String) { link.withLock { $0.title = title } }

    /// Copies an NV12 picture of `size`, of BT.601 and limited range, to be shown.
    public func show(_ planes: PixelPlanes) {
        guard unsafe planes.format == .nv12, unsafe planes.size == size else { return }
        let width = (size.width + 1) / 2 * 2
        var bytes = [UInt8]()
        bytes.reserveCapacity(width * size.height * 3 / 2)
        for plane in 0..<2 {
            let rows = PixelFormat.nv12.rows(plane: plane, height: size.height)
            for row in 0..<rows {
                // SAFETY: a row of a plane has so many bytes; the luma of an odd width repeats nothing, sides are even.
                let start = unsafe planes.base(plane) + row * planes.pitch(plane)
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: width))
            }
        }
        link.withLock { $0.picture = bytes }
    }

    /// Closes the window and waits for that, a second at most.
    public func close() {
        link.withLock { $0.isClosing = true }
        _ = link.wait(atMostNanoseconds: 1_000_000_000) { $0.isOpen ? nil : true }
    }
}

/// What a window's thread and its users share.
struct WindowLink: Sendable {
    var title: String
    /// NV12, its planes one behind the other with rows of the width; nil: shown.
    var picture: [UInt8]?
    var isOpen = false
    var isClosing = false
    var failure: VaencError?
}
