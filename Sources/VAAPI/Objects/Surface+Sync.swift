internal import CVA

extension Surface {
    /// The state of the device's work on a surface (vaQuerySurfaceStatus).
    package enum Status: Sendable, Hashable {
        case rendering, displaying, ready, skipped
        case other(UInt32)
    }

    package func status() throws(VAError) -> Status {
        var status = VASurfaceReady
        try display.check(
            unsafe vaQuerySurfaceStatus(display.handle, id, &status), call: "vaQuerySurfaceStatus",
            object: "surface \(id)")
        return switch status {
        case VASurfaceRendering: .rendering
        case VASurfaceDisplaying: .displaying
        case VASurfaceReady: .ready
        case VASurfaceSkipped: .skipped
        default: .other(status.rawValue)
        }
    }

    /// Blocks until the work on the surface is done (vaSyncSurface2).
    ///
    /// If the driver does not implement vaSyncSurface2, vaSyncSurface is used, which has no timeout.
    ///
    /// - Throws: An error of category `.deviceFailed` and status `.timedOut` if the timeout expires.
    package func sync(timeoutNanoseconds: UInt64, frame: Int? = nil) throws(VAError) {
        if display.optionalCalls.has(.syncSurface2) {
            let status = unsafe vaSyncSurface2(display.handle, id, timeoutNanoseconds)
            if VAStatusCode(rawValue: status) != .unimplemented {
                return try display.check(
                    status, call: "vaSyncSurface2", object: "surface \(id)", frame: frame,
                    remedy: VAStatusCode(rawValue: status) == .timedOut ? Self.hangRemedy : nil)
            }
            display.optionalCalls.lacks(.syncSurface2)
        }
        try display.check(
            unsafe vaSyncSurface(display.handle, id), call: "vaSyncSurface", object: "surface \(id)", frame: frame)
    }

    package static var hangRemedy: String { "the device did not finish in time; see `dmesg` for a GPU reset" }
}
