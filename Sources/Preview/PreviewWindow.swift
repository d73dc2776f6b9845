import CSDL
import Threads
package import VideoBase

/// A window that shows pictures, implemented with SDL2.
///
/// A dedicated thread owns the window and all objects that belong to it. It shows the newest picture: a picture that
/// arrives before the previous one was shown replaces it. All functions may be called from any thread.
package final class PreviewWindow: Sendable {
    private let link: Monitor<WindowLink>
    /// The size of the pictures, and the initial size of the window.
    package let size: VideoSize

    /// Checks that a window can be shown.
    ///
    /// - Throws: A `VaencError` of category `.unavailable` if SDL2 or a display is missing.
    package static func check() throws(VaencError) {
        // SAFETY: SDL counts the initializations of a subsystem.
        let sdl = unsafe try WindowThread.load()
        unsafe try WindowThread.begin(sdl)
        unsafe sdl.pointee.SDL_QuitSubSystem!(SDL_INIT_VIDEO)
    }

    /// Returns the size of a picture scaled down to fit most screens, with even sides.
    package static func fitting(_ size: VideoSize) -> VideoSize {
        let scale = min(1, 960 / Double(max(size.width, 1)), 720 / Double(max(size.height, 1)))
        func side(_ value: Int) -> Int { max(2, Int((Double(value) * scale / 2).rounded()) * 2) }
        return VideoSize(width: side(size.width), height: side(size.height))
    }

    /// Opens a window and waits until it is open.
    ///
    /// - Throws: A `VaencError` of category `.usage` for odd sides, and of category `.unavailable` if SDL2 or a display
    ///   is missing.
    package init(title: String, size: VideoSize) throws {
        guard size.width > 0, size.height > 0, size.width % 2 == 0, size.height % 2 == 0 else {
            throw VaencError(
                .usage, "a preview cannot have the size \(size)",
                remedy: "use an even width and height above 0, as PreviewWindow.fitting returns")
        }
        let link = Monitor(WindowLink(title: title))
        self.link = link
        self.size = size
        guard DedicatedThread.start("vaenc-preview", { WindowThread.run(size, link) }) else {
            throw VaencError.noThread("for the preview")
        }
        let isThere: Bool? = try link.wait(atMostNanoseconds: 10_000_000_000) { link in
            if let failure = link.failure { throw failure }
            return link.isOpen ? true : nil
        }
        if isThere == nil {
            link.withLock { $0.isClosing = true }
            throw VaencError(
                .unavailable, "the preview window cannot be opened",
                remedy: "check DISPLAY, or leave out `preview`")
        }
    }

    deinit { link.withLock { $0.isClosing = true } }

    /// Whether the window is open: neither the user nor `close` has closed it.
    package var isOpen: Bool { link.withLockWithoutNotifying { $0.isOpen && !$0.isClosing } }

    /// Sets the title of the window.
    package func setTitle(_ title: String) { link.withLock { $0.title = title } }

    /// Copies an NV12 picture of `size`, in BT.601 with limited range, and shows it. Pictures of another format or size
    /// are ignored.
    package func show(_ planes: PixelPlanes) {
        guard unsafe planes.format == .nv12, unsafe planes.size == size, (try? unsafe planes.check()) != nil else { return }
        let width = size.width
        var bytes = [UInt8]()
        bytes.reserveCapacity(width * size.height * 3 / 2)
        for plane in 0..<2 {
            let rows = PixelFormat.nv12.rows(plane: plane, height: size.height)
            for row in 0..<rows {
                // SAFETY: A row of a plane has this many bytes, because widths are even.
                let start = unsafe planes.base(plane) + row * planes.pitch(plane)
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: width))
            }
        }
        link.withLock { $0.picture = bytes }
    }

    /// Closes the window and waits until it is closed, for at most one second.
    package func close() {
        link.withLock { $0.isClosing = true }
        _ = link.wait(atMostNanoseconds: 1_000_000_000) { $0.isOpen ? nil : true }
    }
}

/// The state that a window's thread and its users share.
struct WindowLink: Sendable {
    var title: String
    /// The NV12 picture to show, with its planes one after the other and rows without padding, or nil if it was already
    /// shown.
    var picture: [UInt8]?
    var isOpen = false
    var isClosing = false
    var failure: VaencError?
}
