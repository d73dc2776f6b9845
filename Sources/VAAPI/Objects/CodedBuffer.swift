internal import CVA

/// The buffer that an encoder writes an access unit into; made once, used for many pictures.
///
/// One picture at a time: from the picture's `end` until its bytes were copied out.
@safe package final class CodedBuffer: Sendable {
    package let context: Context
    /// Bytes it can hold.
    package let capacity: Int
    let id: VABufferID

    /// The number by which parameter buffers name it.
    package var identifier: UInt32 { id }

    /// vaCreateBuffer of VAEncCodedBufferType.
    package init(_ context: Context, capacity: Int) throws(VAError) {
        var id = VABufferID(VA_INVALID_ID)
        guard let size = CUnsignedInt(exactly: capacity), size > 0 else {
            throw VAError(call: "vaCreateBuffer", status: .invalidValue, object: "coded buffer of \(capacity) bytes")
        }
        let status = unsafe BufferCalls.create(context, VAEncCodedBufferType, size: size, data: nil, &id)
        try context.display.check(status, "vaCreateBuffer", "coded buffer of \(capacity) bytes")
        self.context = context
        self.capacity = capacity
        self.id = id
    }

    deinit {
        let (display, id) = (context.display, id)
        display.watch.release { BufferCalls.destroy(display, id) }
    }

    /// Blocks until the buffer holds its access unit: vaSyncBuffer, or a sync of the input surface where the driver
    /// lacks it (found once, remembered).
    ///
    /// - Throws: `.deviceFailed` with status `.timedOut` when the time is up.
    package func sync(input surface: Surface, timeoutNanoseconds: UInt64, frame: Int? = nil) throws(VAError) {
        let display = context.display
        if display.abilities.has(.syncBuffer) {
            let status = unsafe vaSyncBuffer(display.handle, id, timeoutNanoseconds)
            if StatusCode(rawValue: status) != .unimplemented {
                return try display.check(
                    status, "vaSyncBuffer", "coded buffer of \(context.size)", frame: frame,
                    remedy: StatusCode(rawValue: status) == .timedOut ? Surface.hangRemedy : nil)
            }
            display.abilities.lacks(.syncBuffer)
        }
        try surface.sync(timeoutNanoseconds: timeoutNanoseconds, frame: frame)
    }

    /// Copies the access unit to the end of `bytes`, following the chain of segments, and says what the driver told
    /// of each. On failure `bytes` is as it was. Blocks until the picture is done, on most drivers without limit:
    /// sync first.
    package func read(appendingTo bytes: inout [UInt8], frame: Int? = nil) throws(VAError) -> [CodedSegment] {
        let display = context.display
        var address: UnsafeMutableRawPointer?
        let status = unsafe BufferCalls.map(display, id, &address, for: .read)
        func what() -> String { "coded buffer of \(context.size)" }
        try display.check(status, "vaMapBuffer", what(), frame: frame)
        defer { BufferCalls.unmap(display, id) }
        let start = bytes.count
        var segments: [CodedSegment] = []
        // SAFETY: the driver keeps the chain and its bytes until vaUnmapBuffer, which runs when this scope ends. A
        // chain with a loop, or longer than the buffer, is refused below.
        var next = unsafe address
        while let pointer = unsafe next {
            let segment = unsafe pointer.loadUnaligned(as: VACodedBufferSegment.self)
            let size = unsafe Int(segment.size)
            let refused = unsafe size > 0 && segment.buf == nil
            guard !refused, bytes.count - start + size <= max(capacity, 1) * 2, segments.count < 4096 else {
                bytes.removeSubrange(start...)
                throw VAError(
                    call: "vaMapBuffer", status: .encodingError, object: what(), frame: frame,
                    driverMessage: "segment \(segments.count) claims \(size) bytes of a buffer of \(capacity)")
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

/// A VACodedBufferSegment: a part of an access unit, and what the driver said of it.
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

/// VA_CODED_BUF_STATUS_… as the driver left it; some drivers leave it unset (Mesa 22.3.6).
package struct CodedStatus: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// A slice is larger than asked.
    package static let largeSlice = CodedStatus(rawValue: 0x100)
    package static let sliceOverflow = CodedStatus(rawValue: 0x200)
    /// The peak bit rate was exceeded.
    package static let bitrateOverflow = CodedStatus(rawValue: 0x400)
    package static let bitrateHigh = CodedStatus(rawValue: 0x800)
    /// The frame is larger than asked.
    package static let frameSizeOverflow = CodedStatus(rawValue: 0x1000)
    /// The bytes are not a valid access unit.
    package static let badBitstream = CodedStatus(rawValue: 0x8000)
    /// The segment holds one NAL unit.
    package static let singleNALUnit = CodedStatus(rawValue: 0x1000_0000)

    /// The picture's average QP; 0 where the driver does not say.
    package var averageQP: Int { Int(rawValue & 0xff) }
    package var passes: Int { Int(rawValue >> 24 & 0xf) }
    /// What makes the access unit unusable.
    package var errors: CodedStatus { intersection([.badBitstream, .sliceOverflow, .frameSizeOverflow]) }

    /// The flags in `va.h`'s words.
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
