import CLibAV
package import LibAV
package import VAAPI
package import VideoBase

/// A display as libavcodec decodes on it: an AVHWDeviceContext over the VADisplay, and the calls through its watch.
@safe package final class DecodeDevice: PictureKeeper {
    package let display: Display
    // SAFETY: counted by libav; this reference is given up in deinit, through the watch.
    nonisolated(unsafe) let context: UnsafeMutablePointer<AVBufferRef>
    private nonisolated(unsafe) let av: UnsafePointer<VaencLibAV>
    /// Pictures that somebody holds.
    private let held = Monitor(0)

    /// Pictures that may be held when another is decoded: the decoder has so many surfaces more than it needs itself.
    package static let heldLimit = 24

    /// - Throws: a `VAError` where the device does not answer, `unavailable` where libavcodec cannot use it.
    package init(_ display: Display) throws {
        let av = unsafe try LibAV.load(.codec)
        self.display = display
        unsafe self.av = unsafe av
        _ = LibAV.takeLog()
        nonisolated(unsafe) let table = unsafe av
        let (address, words) = try display.watch.run("av_hwdevice_ctx_init", display.vendor, .setUp) {
            // SAFETY: the display outlives what is made here: this object and its pictures keep it.
            guard unsafe vaenc_note_calls(display.native) else { return (UInt(0), "no memory") }
            var code: Int32 = 0
            let device = unsafe vaenc_vaapi_device(table, display.native, &code)
            return unsafe (UInt(bitPattern: device), device == nil ? LibAV.message(code, table) : "")
        }
        guard let context = unsafe UnsafeMutablePointer<AVBufferRef>(bitPattern: address) else {
            throw VaencError(.unavailable, "libavcodec cannot use \(display.vendor) (\(words))")
        }
        unsafe self.context = context
    }

    deinit {
        nonisolated(unsafe) var context: UnsafeMutablePointer<AVBufferRef>? = unsafe context
        nonisolated(unsafe) let av = unsafe av
        display.watch.release { unsafe av.pointee.av_buffer_unref!(&context) }
    }

    /// Has libavcodec work on the device.
    ///
    /// - Throws: the first VA-API call that failed, also where libavcodec does not report it; `.timedOut` where one hangs.
    func perform<R: Sendable>(_ call: String, _ body: @escaping @Sendable () throws -> R) throws -> R {
        let vendor = display.vendor
        return try display.watch.run(call, vendor, .wait) {
            vaenc_begin_notes()
            let result = Result { try body() }
            var status: Int32 = 0
            // SAFETY: the name is a constant of the C code.
            if let failed = unsafe vaenc_end_notes(&status) {
                throw VAError(
                    call: unsafe String(cString: failed), status: StatusCode(rawValue: status), object: "decoding on \(vendor)",
                    category: .deviceFailed)
            }
            return try result.get()
        }
    }

    package func release(_ body: @escaping @Sendable () -> Void) {
        display.watch.release(body)
        held.withLock { $0 -= 1 }
    }

    /// Counts a picture as held, until `release`.
    func hold() { held.withLock { $0 += 1 } }

    /// Blocks while as many pictures are held as leave the decoder no surface.
    ///
    /// - Parameter end: asked now and then while it blocks: the error that ends the wait.
    /// - Throws: that error; `usage` where none comes back in the time that the device is allowed.
    func waitForSurface(_ end: () -> VaencError?) throws {
        var left = display.watch.limitNanoseconds
        while true {
            let step = min(20_000_000, left)
            let isFree = held.wait(atMostNanoseconds: step) { $0 < Self.heldLimit ? true : nil }
            if isFree != nil { return }
            if let error = end() { throw error }
            left -= step
            if left == 0 {
                throw VaencError(
                    .usage, "\(Self.heldLimit) decoded pictures are held, and the device has no surface for another",
                    remedy: "drop pictures when they are used, or copy them")
            }
        }
    }

    /// The surface of a picture that lies on this device, as a buffer that keeps the picture; nil of one in memory.
    package func buffer(of picture: DecodedPicture) throws -> SurfaceBuffer? {
        guard let place = picture.surface else { return nil }
        let surface = Surface(lent: place.identifier, by: display, size: place.size, format: place.format)
        let visible = picture.visible
        return try SurfaceBuffer(
            surface: surface, visible: picture.size, offset: (visible.x, visible.y), owner: picture)
    }

    /// Why the driver decodes no such stream; nil where it says that it does. Sizes and profiles are tried by libavcodec.
    package func refusal(of codec: VideoCodec, bitDepth: Int) throws -> String? {
        let display = display
        let profiles = try display.watch.run("asking for capabilities", display.vendor, .setUp) {
            try display.profiles().filter { profile in
                try profile.codecName == codec.rawValue && display.entryPoints(of: profile).contains(.decode)
            }
        }
        let name = codec.standardName
        if profiles.isEmpty { return "\(display.vendor) does not decode \(name)" }
        // Profiles of 10 bits and more: H.264's is newer than most headers.
        let deep: Set<Int32> = [18, 23, 24, 25, 27, 28, 36]
        let fits = bitDepth == 8 ? profiles : profiles.filter { deep.contains($0.rawValue) }
        return fits.isEmpty ? "\(display.vendor) does not decode \(name) of \(bitDepth) bits" : nil
    }
}
