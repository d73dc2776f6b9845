import CLibAV
package import LibAV
import Threads
package import VAAPI
package import VideoBase

/// A display on which libavcodec decodes: an AVHWDeviceContext for the VADisplay. All calls go through the display's
/// watchdog.
@safe package final class DecodeDevice: PictureKeeper {
    package let display: Display
    // SAFETY: libav counts the references. deinit releases this one, through the watchdog.
    nonisolated(unsafe) let context: UnsafeMutablePointer<AVBufferRef>
    private nonisolated(unsafe) let av: UnsafePointer<VaencLibAV>
    /// The number of pictures that are in use outside the decoder.
    private let held = Monitor(0)

    /// The number of pictures that may be in use while another one is decoded. The decoder allocates this number of
    /// extra surfaces.
    package static let heldLimit = 24

    /// - Throws: A `VAError` if the device does not respond, `unavailable` if libavcodec cannot use it.
    package init(_ display: Display) throws {
        let av = unsafe try LibAV.load(.codec)
        self.display = display
        unsafe self.av = unsafe av
        _ = LibAV.takeLog()
        nonisolated(unsafe) let table = unsafe av
        let (address, words) = try display.watch.run("av_hwdevice_ctx_init", on: display.vendor, scale: .setUp) {
            // SAFETY: the display outlives the objects that are created here: this object and its pictures retain it.
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

    /// Runs `body`, which calls libavcodec for the device.
    ///
    /// - Throws: The first VA-API call that failed, even if libavcodec does not report it; `.timedOut` if a call hangs.
    func perform<R: Sendable>(_ call: String, _ body: @escaping @Sendable () throws -> R) throws -> R {
        let vendor = display.vendor
        return try display.watch.run(call, on: vendor, scale: .wait) {
            vaenc_begin_notes()
            let result = Result { try body() }
            var status: Int32 = 0
            // SAFETY: the name is a constant of the C code.
            if let failed = unsafe vaenc_end_notes(&status) {
                throw VAError(
                    call: unsafe String(cString: failed), status: VAStatusCode(rawValue: status), object: "decoding on \(vendor)",
                    category: .deviceFailed)
            }
            return try result.get()
        }
    }

    package func release(_ body: @escaping @Sendable () -> Void) {
        display.watch.release(body)
        held.withLock { $0 -= 1 }
    }

    /// Counts a picture as in use, until `release`.
    func hold() { held.withLock { $0 += 1 } }

    /// Blocks while so many pictures are in use that the decoder has no free surface.
    ///
    /// - Parameter end: Returns the error that ends the wait; nil to continue. It is called about every 20 ms.
    /// - Throws: That error; `usage` if no picture is released within the device's time limit.
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
                    .usage, "\(Self.heldLimit) decoded pictures are in use, and the device has no free surface",
                    remedy:
                        "release or copy pictures after use; this access unit was accepted, continue with the next")
            }
        }
    }

    /// Returns the surface of a picture on this device, as a buffer that retains the picture; nil for a picture in
    /// memory.
    package func buffer(of picture: DecodedPicture) throws -> SurfaceBuffer? {
        guard let decoded = picture.surface else { return nil }
        let surface = Surface(borrowing: decoded.identifier, of: display, size: decoded.size, format: decoded.format)
        let visible = picture.visible
        return try SurfaceBuffer(
            surface: surface, visible: picture.size, offset: (visible.x, visible.y), owner: picture)
    }

    /// Returns the reason why the driver does not decode the codec; nil if it reports that it does. libavcodec checks
    /// the size and profile later.
    package func rejectionReason(of codec: VideoCodec, bitDepth: Int) throws -> String? {
        let display = display
        let profiles = try display.watch.run("querying capabilities", on: display.vendor, scale: .setUp) {
            try display.profiles().filter { profile in
                try profile.codec == codec && display.entryPoints(of: profile).contains(.decode)
            }
        }
        let name = codec.standardName
        if profiles.isEmpty { return "\(display.vendor) does not decode \(name)" }
        // Profiles with 10 bits or more, as numbers: the constant of H.264 High 10 is newer than most headers.
        let deep: Set<Int32> = [18, 23, 24, 25, 27, 28, 36]
        let fits = bitDepth == 8 ? profiles : profiles.filter { deep.contains($0.rawValue) }
        return fits.isEmpty ? "\(display.vendor) does not decode \(name) with \(bitDepth) bits" : nil
    }
}
