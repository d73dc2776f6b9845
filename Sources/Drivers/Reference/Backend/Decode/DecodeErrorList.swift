internal import CVA

/// What vaQuerySurfaceError answers of a surface, for as long as the surface is there: at most one record, and the end.
///
/// SAFETY: two records, allocated with the object and freed with it.
@safe final class DecodeErrorList {
    private let start: UnsafeMutablePointer<VASurfaceDecodeMBErrors>

    init() {
        unsafe start = .allocate(capacity: 2)
        unsafe start.initialize(repeating: VASurfaceDecodeMBErrors(), count: 2)
    }

    deinit { unsafe start.deallocate() }

    /// Errors among so many macroblocks; 0: none.
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
