internal import CVA

extension VADriverVTable {
    mutating func fillSurfaces() {
        unsafe vaCreateSurfaces = { context, width, height, format, count, ids in
            unsafe call(context) { driver in
                let request = Driver.SurfaceRequest(
                    format: UInt32(bitPattern: format), width: Int(width), height: Int(height), count: Int(count))
                _ = try unsafe place(ids)
                try unsafe store(driver.createSurfaces(request), ids)
            }
        }
        unsafe vaCreateSurfaces2 = { context, format, width, height, ids, count, attributes, attributeCount in
            unsafe call(context) { driver in
                var request = Driver.SurfaceRequest(
                    format: format, width: Int(width), height: Int(height), count: Int(count))
                request.attributes = try unsafe list(attributes, attributeCount).compactMap {
                    guard unsafe $0.flags & UInt32(VA_SURFACE_ATTRIB_SETTABLE) != 0 else { return nil }
                    let isInteger = unsafe $0.value.type == VAGenericValueTypeInteger
                    return unsafe ($0.type, isInteger ? $0.value.value.i : nil)
                }
                _ = try unsafe place(ids)
                try unsafe store(driver.createSurfaces(request), ids)
            }
        }
        unsafe vaDestroySurfaces = { context, ids, count in
            unsafe call(context) { try unsafe $0.destroySurfaces(list(ids, count)) }
        }
        unsafe vaQuerySurfaceAttributes = { context, config, attributes, count in
            unsafe call(context) { driver in
                let answer = try driver.surfaceAttributes(config)
                let count = try unsafe place(count)
                let room = unsafe count.pointee
                unsafe count.pointee = UInt32(answer.count)
                guard let attributes = unsafe attributes else { return }
                guard room >= answer.count else {
                    throw Refusal(VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "room for \(room) surface attributes only")
                }
                for (index, entry) in answer.enumerated() {
                    unsafe attributes[index] = VASurfaceAttrib(entry)
                }
            }
        }
        unsafe vaSyncSurface = { context, id in
            unsafe call(context) { try $0.syncSurface(id, until: .never) }
        }
        unsafe vaSyncSurface2 = { context, id, timeout in
            unsafe call(context) { try $0.syncSurface(id, until: Deadline(after: timeout)) }
        }
        unsafe vaQuerySurfaceError = { context, id, status, records in
            unsafe call(context) { driver in
                guard status == VA_STATUS_ERROR_DECODING_ERROR else {
                    throw Refusal.unimplemented("only errors of decoding are told")
                }
                let records = try unsafe place(records)
                unsafe records.pointee = UnsafeMutableRawPointer(try driver.surfaceError(id))
            }
        }
        unsafe vaQuerySurfaceStatus = { context, id, status in
            unsafe call(context) { driver in
                let status = try unsafe place(status)
                unsafe status.pointee = try driver.surfaceStatus(id)
            }
        }
    }
}

extension VASurfaceAttrib {
    fileprivate init(_ attribute: Driver.SurfaceAttribute) {
        unsafe self.init()
        unsafe type = attribute.type
        let settable = attribute.isSettable ? VA_SURFACE_ATTRIB_SETTABLE : 0
        unsafe flags = UInt32(VA_SURFACE_ATTRIB_GETTABLE | settable)
        unsafe value.type = VAGenericValueTypeInteger
        unsafe value.value.i = attribute.value
    }
}
