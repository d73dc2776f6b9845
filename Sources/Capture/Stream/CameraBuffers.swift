import CV4L2
import Glibc
import VideoBase

/// The mapped buffers that a driver fills. They and the device stay open until the last picture in them is released.
@safe final class CameraBuffers: @unchecked Sendable {
    // SAFETY: only the stream's thread uses `node`, which is closed in deinit, when no references are left. A mapping
    // is read only by the code that holds its buffer, and the driver does not write to the buffer in that time.
    let node: VideoNode
    let layout: FrameLayout?
    private(set) var mappings: [UnsafeMutableRawBufferPointer] = unsafe []
    /// The DMA-BUF descriptors of the buffers; empty if the driver does not export them.
    private(set) var exported: [Int32] = []

    var count: Int { unsafe mappings.count }
    private static let type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue

    /// Requests `requestedCount` buffers, then maps and exports the buffers that the driver allocates.
    init(_ node: VideoNode, count requestedCount: Int, layout: FrameLayout?) throws(VaencError) {
        self.node = node
        self.layout = layout
        var request = v4l2_requestbuffers()
        request.count = UInt32(requestedCount)
        request.type = Self.type
        request.memory = V4L2_MEMORY_MMAP.rawValue
        try node.demand("VIDIOC_REQBUFS", request: vaenc_VIDIOC_REQBUFS(), value: &request)
        var canExport = layout != nil
        // VIDEO_MAX_FRAME is 32. The limit protects against drivers that report too many buffers.
        for index in 0..<min(request.count, 64) {
            var buffer = unsafe Self.buffer(index)
            unsafe try node.demand("VIDIOC_QUERYBUF", request: vaenc_VIDIOC_QUERYBUF(), value: &buffer)
            let length = unsafe Int(buffer.length)
            let offset = unsafe buffer.m.offset
            if vaenc_is_converted(offset, index) { canExport = false }
            // SAFETY: the mapping is owned by this object and unmapped in deinit.
            let address = unsafe vaenc_v4l2_mmap(
                length, PROT_READ | PROT_WRITE, MAP_SHARED, node.descriptor, Int64(offset))
            guard let address = unsafe address, unsafe address != UnsafeMutableRawPointer(bitPattern: -1) else {
                throw node.failure("mmap", errno)
            }
            unsafe mappings.append(UnsafeMutableRawBufferPointer(start: address, count: length))
            if canExport { canExport = export(index) }
        }
        guard count >= 2 else {
            throw VaencError(
                .unavailable, "the camera \(node.path) has only \(count) buffers, but two are needed",
                remedy: "use another camera")
        }
        if exported.count != count { dropExports() }
    }

    private func export(_ index: UInt32) -> Bool {
        var export = v4l2_exportbuffer()
        export.type = Self.type
        export.index = index
        export.flags = UInt32(O_CLOEXEC | O_RDWR)
        guard node.call(vaenc_VIDIOC_EXPBUF(), &export) == 0 else { return false }
        exported.append(export.fd)
        return true
    }

    private func dropExports() {
        for descriptor in exported { close(descriptor) }
        exported = []
    }

    deinit {
        for index in unsafe mappings.indices { unsafe vaenc_v4l2_munmap(mappings[index].baseAddress, mappings[index].count) }
        dropExports()
    }

    private static func buffer(_ index: UInt32) -> v4l2_buffer {
        var buffer = unsafe v4l2_buffer()
        unsafe buffer.index = index
        unsafe buffer.type = type
        unsafe buffer.memory = V4L2_MEMORY_MMAP.rawValue
        return unsafe buffer
    }

    // MARK: Calls of the stream's thread

    /// Passes a buffer to the driver. Returns 0 or the errno.
    func queue(_ index: UInt32) -> Int32 {
        var buffer = unsafe Self.buffer(index)
        return unsafe node.call(vaenc_VIDIOC_QBUF(), &buffer)
    }

    /// Takes a filled buffer from the driver. Returns 0 or the errno: EAGAIN if no buffer is filled.
    func dequeue(_ buffer: inout v4l2_buffer) -> Int32 {
        unsafe buffer = unsafe Self.buffer(0)
        return unsafe node.call(vaenc_VIDIOC_DQBUF(), &buffer)
    }

    func start() throws(VaencError) {
        for index in 0..<UInt32(count) {
            let code = queue(index)
            if code != 0 { throw node.failure("VIDIOC_QBUF", code) }
        }
        var type = Self.type
        try node.demand("VIDIOC_STREAMON", request: vaenc_VIDIOC_STREAMON(), value: &type)
    }

    func stop() {
        var type = Self.type
        _ = node.call(vaenc_VIDIOC_STREAMOFF(), &type)
    }
}
