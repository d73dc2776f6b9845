internal import CVA

/// The records that vaQuerySurfaceError returns for a surface: at most one error, and the end marker.
///
/// SAFETY: the two records are allocated and freed with this object. The surface keeps the object alive. A client may
/// therefore read the records as long as the surface exists.
@safe final class DecodeErrorList {
    private let start: UnsafeMutablePointer<VASurfaceDecodeMBErrors>

    init() {
        unsafe start = .allocate(capacity: 2)
        unsafe start.initialize(repeating: VASurfaceDecodeMBErrors(), count: 2)
    }

    deinit { unsafe start.deallocate() }

    /// Fills in the records and returns them.
    ///
    /// - Parameter macroblocks: The number of macroblocks that may have errors, or 0 for no error.
    func records(macroblocks: Int) -> UnsafeMutablePointer<VASurfaceDecodeMBErrors> {
        unsafe start[0].status = macroblocks > 0 ? 1 : -1
        unsafe start[0].start_mb = 0
        unsafe start[0].end_mb = UInt32(max(macroblocks, 1) - 1)
        unsafe start[0].decode_error_type = VADecodeMBError
        unsafe start[0].num_mb = UInt32(macroblocks)
        unsafe start[1].status = -1
        return unsafe start
    }
}
