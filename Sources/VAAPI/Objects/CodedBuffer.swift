internal import CVA

/// A buffer that an encoder writes an access unit into. It is created once and reused for many pictures.
///
/// It serves one picture at a time, from the picture's `end` until its bytes have been copied out.
@safe package final class CodedBuffer: Sendable {
    package let context: Context
    /// The capacity in bytes.
    package let capacity: Int
    let id: VABufferID

    /// The ID of the buffer in parameter buffers.
    package var identifier: UInt32 { id }

    /// Creates the buffer (vaCreateBuffer with VAEncCodedBufferType).
    package init(_ context: Context, capacity: Int) throws(VAError) {
        var id = VABufferID(VA_INVALID_ID)
        guard let size = CUnsignedInt(exactly: capacity), size > 0 else {
            throw VAError(call: "vaCreateBuffer", status: .invalidValue, object: "coded buffer of \(capacity) bytes")
        }
        let status = unsafe BufferCalls.create(context, type: VAEncCodedBufferType, size: size, data: nil, id: &id)
        try context.display.check(status, call: "vaCreateBuffer", object: "coded buffer of \(capacity) bytes")
        self.context = context
        self.capacity = capacity
        self.id = id
    }

    deinit {
        let (display, id) = (context.display, id)
        display.watch.release { BufferCalls.destroy(display, id) }
    }

    /// Blocks until the buffer holds its access unit (vaSyncBuffer).
    ///
    /// If the driver does not implement vaSyncBuffer, the input surface is synchronized instead. This is detected once
    /// and remembered.
    ///
    /// - Throws: An error of category `.deviceFailed` and status `.timedOut` if the timeout expires.
    package func sync(input surface: Surface, timeoutNanoseconds: UInt64, frame: Int? = nil) throws(VAError) {
        let display = context.display
        if display.optionalCalls.has(.syncBuffer) {
            let status = unsafe vaSyncBuffer(display.handle, id, timeoutNanoseconds)
            if VAStatusCode(rawValue: status) != .unimplemented {
                return try display.check(
                    status, call: "vaSyncBuffer", object: "coded buffer of \(context.size)", frame: frame,
                    remedy: VAStatusCode(rawValue: status) == .timedOut ? Surface.hangRemedy : nil)
            }
            display.optionalCalls.lacks(.syncBuffer)
        }
        try surface.sync(timeoutNanoseconds: timeoutNanoseconds, frame: frame)
    }

    /// Appends the access unit to `bytes`, following the chain of segments, and returns the size and status of each
    /// segment. On failure, `bytes` is unchanged.
    ///
    /// Blocks until the picture is done, on most drivers without a timeout: call `sync` first.
    package func read(appendingTo bytes: inout [UInt8], frame: Int? = nil) throws(VAError) -> [CodedSegment] {
        let display = context.display
        var address: UnsafeMutableRawPointer?
        let status = unsafe BufferCalls.map(display, id: id, address: &address, for: .read)
        func what() -> String { "coded buffer of \(context.size)" }
        try display.check(status, call: "vaMapBuffer", object: what(), frame: frame)
        defer { BufferCalls.unmap(display, id) }
        let start = bytes.count
        // DriverQuirk.chainsCodedSegments.
        var segments: [CodedSegment] = []
        // SAFETY: The driver keeps the chain and its bytes until vaUnmapBuffer, which runs when this scope ends. A
        // chain that has a loop or is longer than the buffer is rejected below.
        var next = unsafe address
        while let pointer = unsafe next {
            let segment = unsafe pointer.loadUnaligned(as: VACodedBufferSegment.self)
            let size = unsafe Int(segment.size)
            let refused = unsafe size > 0 && segment.buf == nil
            guard !refused, bytes.count - start + size <= max(capacity, 1) * 2, segments.count < 4096 else {
                bytes.removeSubrange(start...)
                throw VAError(
                    call: "vaMapBuffer", status: .encodingError, object: what(), frame: frame,
                    driverMessage: "segment \(segments.count) states \(size) bytes, but the buffer has \(capacity)")
            }
            unsafe segments.append(
                CodedSegment(byteCount: size, bitOffset: Int(segment.bit_offset), status: .init(rawValue: segment.status)))
            if let source = unsafe segment.buf, size > 0 {
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: source, count: size))
            }
            unsafe next = segment.next
        }
        return segments
    }
}

/// A VACodedBufferSegment: the size and status of a part of an access unit.
package struct CodedSegment: Sendable, Hashable {
    package var byteCount: Int
    package var bitOffset: Int
    package var status: CodedStatus

    package init(byteCount: Int, bitOffset: Int, status: CodedStatus) {
        self.byteCount = byteCount
        self.bitOffset = bitOffset
        self.status = status
    }
}

/// The status that the driver reported: VA_CODED_BUF_STATUS_… flags. Some drivers leave it unset (Mesa 22.3.6).
package struct CodedStatus: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// A slice is larger than requested.
    package static let largeSlice = CodedStatus(rawValue: 0x100)
    package static let sliceOverflow = CodedStatus(rawValue: 0x200)
    /// The peak bit rate was exceeded.
    package static let bitrateOverflow = CodedStatus(rawValue: 0x400)
    package static let bitrateHigh = CodedStatus(rawValue: 0x800)
    /// The frame is larger than requested.
    package static let frameSizeOverflow = CodedStatus(rawValue: 0x1000)
    /// The bytes are not a valid access unit.
    package static let badBitstream = CodedStatus(rawValue: 0x8000)
    /// The segment holds one NAL unit.
    package static let singleNALUnit = CodedStatus(rawValue: 0x1000_0000)

    /// The average QP of the picture, or 0 if the driver does not report it.
    package var averageQP: Int { Int(rawValue & 0xff) }
    /// The flags that make the access unit unusable.
    package var errors: CodedStatus { intersection([.badBitstream, .sliceOverflow, .frameSizeOverflow]) }

    /// The names of the flags in `va.h`.
    package var names: [String] {
        zip(
            [
                Self.largeSlice, .sliceOverflow, .bitrateOverflow, .bitrateHigh, .frameSizeOverflow, .badBitstream,
                .singleNALUnit,
            ],
            [
                "LARGE_SLICE", "SLICE_OVERFLOW", "BITRATE_OVERFLOW", "BITRATE_HIGH", "FRAME_SIZE_OVERFLOW",
                "BAD_BITSTREAM", "SINGLE_NALU",
            ]
        ).filter { contains($0.0) }.map(\.1)
    }
}
