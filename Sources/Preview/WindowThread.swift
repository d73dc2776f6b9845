import CSDL
import Glibc
import Threads
import VideoBase

/// The thread of a window. SDL requires that one thread makes all calls.
enum WindowThread {
    private static let visiblePosition: Int32 = 0x2fff_0000
    private static let nv12 = UInt32(SDL_PIXELFORMAT_NV12.rawValue)

    static func load() throws(VaencError) -> UnsafePointer<VaencSDL> {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: The text ends with a zero byte inside the given size, and the table is static.
        if let table = unsafe vaenc_sdl(&text, text.count) { return unsafe table }
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        throw VaencError(
            .unavailable, "a preview needs SDL2, which cannot be loaded (\(words))",
            remedy: "install the package libsdl2-2.0-0, or leave out `preview`")
    }

    /// Makes SDL open a display. `SDL_QuitSubSystem` closes it.
    ///
    /// - Throws: A `VaencError` of category `.unavailable` if there is no display. Without a display, SDL draws into
    ///   memory that is not shown. That is allowed only if SDL_VIDEODRIVER is set.
    static func begin(_ sdl: UnsafePointer<VaencSDL>) throws(VaencError) {
        // libwayland writes a warning to stderr if it has no folder for its socket.
        if unsafe getenv("XDG_RUNTIME_DIR") == nil { _ = unsafe sdl.pointee.SDL_SetHint!("SDL_VIDEODRIVER", "x11,KMSDRM") }
        guard unsafe sdl.pointee.SDL_InitSubSystem!(SDL_INIT_VIDEO) == 0 else { throw unsafe failure("SDL_Init", sdl) }
        // SAFETY: SDL owns the string, and the environment is only read.
        let name = unsafe sdl.pointee.SDL_GetCurrentVideoDriver!().map { unsafe String(cString: $0) } ?? ""
        let isChosen = unsafe getenv("SDL_VIDEODRIVER") != nil
        if !isChosen, ["offscreen", "dummy", "evdev"].contains(name) {
            unsafe sdl.pointee.SDL_QuitSubSystem!(SDL_INIT_VIDEO)
            throw VaencError(.unavailable, "there is no display for a preview", remedy: "set DISPLAY or WAYLAND_DISPLAY, or leave out `preview`")
        }
    }

    static func failure(_ call: String, _ sdl: UnsafePointer<VaencSDL>) -> VaencError {
        let words = unsafe sdl.pointee.SDL_GetError!().map { unsafe String(cString: $0) } ?? ""
        return VaencError(
            .unavailable, "there is no display for a preview (\(call): \(words))",
            remedy: "set DISPLAY or WAYLAND_DISPLAY, or leave out `preview`")
    }

    static func run(_ size: VideoSize, _ link: Monitor<WindowLink>) {
        do {
            let sdl = unsafe try load()
            unsafe sdl.pointee.SDL_SetMainReady!()
            unsafe try begin(sdl)
            defer { unsafe sdl.pointee.SDL_QuitSubSystem!(SDL_INIT_VIDEO) }
            unsafe try show(size, link: link, sdl: sdl)
        } catch {
            link.withLock { $0.failure = error as? VaencError ?? VaencError(.internalFault, "\(error)") }
        }
        link.withLock { $0.isOpen = false }
    }

    // SAFETY: The window, renderer and texture are created here, used only on this thread, and freed before it ends.
    private static func show(_ size: VideoSize, link: Monitor<WindowLink>, sdl: UnsafePointer<VaencSDL>) throws {
        let (width, height) = (Int32(size.width), Int32(size.height))
        let title = link.withLockWithoutNotifying { $0.title }
        let flags = SDL_WINDOW_RESIZABLE.rawValue
        guard let window = unsafe sdl.pointee.SDL_CreateWindow!(title, visiblePosition, visiblePosition, width, height, flags)
        else { throw unsafe failure("SDL_CreateWindow", sdl) }
        defer { unsafe sdl.pointee.SDL_DestroyWindow!(window) }
        // Do not use OpenGL: if the display is lost, its libraries wait at the end of the program for the thread that
        // was calling Xlib.
        _ = unsafe sdl.pointee.SDL_SetHint!("SDL_FRAMEBUFFER_ACCELERATION", "0")
        let renderer = unsafe sdl.pointee.SDL_CreateRenderer!(window, -1, SDL_RENDERER_SOFTWARE.rawValue)
        guard let renderer = unsafe renderer else { throw unsafe failure("SDL_CreateRenderer", sdl) }
        defer { unsafe sdl.pointee.SDL_DestroyRenderer!(renderer) }
        _ = unsafe sdl.pointee.SDL_RenderSetLogicalSize!(renderer, width, height)
        unsafe sdl.pointee.SDL_SetYUVConversionMode!(SDL_YUV_CONVERSION_BT601)
        let access = Int32(SDL_TEXTUREACCESS_STREAMING.rawValue)
        guard let texture = unsafe sdl.pointee.SDL_CreateTexture!(renderer, nv12, access, width, height) else {
            throw unsafe failure("SDL_CreateTexture", sdl)
        }
        defer { unsafe sdl.pointee.SDL_DestroyTexture!(texture) }
        // SAFETY: The link lives as long as this call, and the handler is not used after it.
        unsafe vaenc_sdl_when_display_is_lost(
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Monitor<WindowLink>>.fromOpaque(context).takeUnretainedValue().withLock { $0.isOpen = false }
            }, Unmanaged.passUnretained(link).toOpaque())
        link.withLock { $0.isOpen = true }
        var shown = title
        while true {
            // Check the window's events twenty times a second, also if no picture arrives.
            let next: (picture: [UInt8]?, title: String, isClosing: Bool)? = link.wait(atMostNanoseconds: 50_000_000) { link in
                guard link.picture != nil || link.isClosing || link.title != shown else { return nil }
                defer { link.picture = nil }
                return (link.picture, link.title, link.isClosing)
            }
            if next?.isClosing == true { return }
            if let title = next?.title, title != shown {
                shown = title
                unsafe sdl.pointee.SDL_SetWindowTitle!(window, title)
            }
            if let picture = next?.picture { unsafe update(texture, with: picture, size: size, sdl: sdl) }
            if unsafe isClosed(sdl) { return }
            _ = unsafe sdl.pointee.SDL_RenderClear!(renderer)
            _ = unsafe sdl.pointee.SDL_RenderCopy!(renderer, texture, nil, nil)
            unsafe sdl.pointee.SDL_RenderPresent!(renderer)
        }
    }

    private static func update(
        _ texture: OpaquePointer, with picture: [UInt8], size: VideoSize, sdl: UnsafePointer<VaencSDL>
    ) {
        let pitch = Int32(size.width)
        unsafe picture.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, bytes.count >= size.width * size.height * 3 / 2 else { return }
            _ = unsafe sdl.pointee.SDL_UpdateNVTexture!(texture, nil, start, pitch, start + size.width * size.height, pitch)
        }
    }

    /// Processes the user's input events. Returns whether the window was closed.
    private static func isClosed(_ sdl: UnsafePointer<VaencSDL>) -> Bool {
        var event = unsafe SDL_Event()
        var isClosed = false
        while unsafe sdl.pointee.SDL_PollEvent!(&event) != 0 {
            let type = unsafe event.type
            if type == SDL_QUIT.rawValue { isClosed = true }
            if type == SDL_WINDOWEVENT.rawValue, unsafe UInt32(event.window.event) == SDL_WINDOWEVENT_CLOSE.rawValue { isClosed = true }
            if type == SDL_KEYDOWN.rawValue, unsafe event.key.keysym.sym == Int32(SDLK_ESCAPE.rawValue) { isClosed = true }
        }
        return isClosed
    }
}
