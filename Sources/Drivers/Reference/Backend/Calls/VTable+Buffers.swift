internal import CVA

extension VADriverVTable {
    mutating func fillBuffers() {
        unsafe vaCreateBuffer = { context, id, type, size, count, data, buffer in
            unsafe call(context) { driver in
                let buffer = try unsafe resultPointer(buffer)
                unsafe buffer.pointee = try driver.createBuffer(
                    context: id, type: type, elementSize: Int(size), count: Int(count)
                ) { memory in
                    guard let data = unsafe data else { return }
                    unsafe memory.address.copyMemory(from: data, byteCount: memory.byteCount)
                }
            }
        }
        unsafe vaBufferSetNumElements = { context, id, count in
            unsafe call(context) { try $0.setElementCount(id, Int(count)) }
        }
        unsafe vaMapBuffer = { context, id, address in
            unsafe call(context) { driver in
                let address = try unsafe resultPointer(address)
                unsafe address.pointee = try unsafe driver.mapBuffer(id)
            }
        }
        unsafe vaUnmapBuffer = { context, id in
            unsafe call(context) { try $0.unmapBuffer(id) }
        }
        unsafe vaDestroyBuffer = { context, id in
            unsafe call(context) { try $0.destroyBuffer(id) }
        }
        unsafe vaBufferInfo = { context, id, type, size, count in
            unsafe call(context) { driver in
                let info = try driver.bufferInfo(id)
                if let type = unsafe type { unsafe type.pointee = info.type }
                if let size = unsafe size { unsafe size.pointee = UInt32(info.elementSize) }
                if let count = unsafe count { unsafe count.pointee = UInt32(info.count) }
            }
        }
        unsafe vaSyncBuffer = { context, id, timeout in
            unsafe call(context) { try $0.syncBuffer(id, until: Deadline(after: timeout)) }
        }
        unsafe vaBeginPicture = { context, id, target in
            unsafe call(context) { try $0.beginPicture(id, target) }
        }
        unsafe vaRenderPicture = { context, id, buffers, count in
            unsafe call(context) { try unsafe $0.renderPicture(id, list(buffers, count)) }
        }
        unsafe vaEndPicture = { context, id in
            unsafe call(context) { try $0.endPicture(id) }
        }
    }
}
