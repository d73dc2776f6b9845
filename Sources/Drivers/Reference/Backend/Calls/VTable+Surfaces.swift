internal import CVA

extension VADriverVTable {
    mutating func fillSurfaces() {
        unsafe vaCreateSurfaces = { context, width, height, format, count, ids in
            unsafe call(context) { driver in
                let request = Driver.SurfaceRequest(
                    format: UInt32(bitPattern: format), width: Int(width), height: Int(height), count: Int(count))
                _ = try unsafe resultPointer(ids)
                try unsafe store(driver.createSurfaces(request), ids)
            }
        }
        unsafe vaCreateSurfaces2 = { context, format, width, height, ids, count, attributes, attributeCount in
            unsafe call(context) { driver in
                var request = Driver.SurfaceRequest(
                    format: format, width: Int(width), height: Int(height), count: Int(count))
                try unsafe request.take(list(attributes, attributeCount), driver.environment)
                _ = try unsafe resultPointer(ids)
                try unsafe store(driver.createSurfaces(request), ids)
            }
        }
        unsafe vaDestroySurfaces = { context, ids, count in
            unsafe call(context) { try unsafe $0.destroySurfaces(list(ids, count)) }
        }
        unsafe vaQuerySurfaceAttributes = { context, config, attributes, count in
            unsafe call(context) { driver in
                let answer = try driver.surfaceAttributes(config)
                let count = try unsafe resultPointer(count)
                let room = unsafe count.pointee
                unsafe count.pointee = UInt32(answer.count)
                guard let attributes = unsafe attributes else { return }
                guard room >= answer.count else {
                    throw Refusal(
                        VA_STATUS_ERROR_MAX_NUM_EXCEEDED,
                        "there is space for only \(room) surface "
                            + "attributes")
                }
                for (index, entry) in answer.enumerated() {
                    unsafe attributes[index] = VASurfaceAttrib(entry)
                }
            }
        }
        unsafe vaExportSurfaceHandle = { context, id, memoryType, flags, descriptor in
            unsafe call(context) { driver in
                let answer = try unsafe resultPointer(descriptor?.assumingMemoryBound(to: vaenc_prime_surface.self))
                unsafe answer.pointee = vaenc_prime_surface(
                    try driver.exportSurface(id, memoryType: memoryType, flags: flags))
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
                    throw Refusal.unimplemented("only decoding errors are reported")
                }
                let records = try unsafe resultPointer(records)
                unsafe records.pointee = UnsafeMutableRawPointer(try driver.surfaceError(id))
            }
        }
        unsafe vaQuerySurfaceStatus = { context, id, status in
            unsafe call(context) { driver in
                let status = try unsafe resultPointer(status)
                unsafe status.pointee = try driver.surfaceStatus(id)
            }
        }
    }
}

extension Driver.SurfaceRequest {
    /// Applies the attributes that the client marked as settable.
    ///
    /// SAFETY: a pointer is only read as the type that va.h specifies for its attribute. Clients must pass that type.
    @unsafe fileprivate mutating func take(_ attributes: [VASurfaceAttrib], _ environment: Environment) throws {
        var description: UnsafeMutableRawPointer?
        for index in unsafe attributes.indices where unsafe attributes[index].flags & UInt32(VA_SURFACE_ATTRIB_SETTABLE) != 0 {
            let attribute = unsafe attributes[index]
            switch unsafe attribute.type {
            case VASurfaceAttribUsageHint: break
            case VASurfaceAttribPixelFormat: fourcc = unsafe try attribute.integer
            case VASurfaceAttribMemoryType: memoryType = unsafe try attribute.integer
            case VASurfaceAttribExternalBufferDescriptor:
                unsafe description = try attribute.pointer
                if unsafe description == nil {
                    try environment.tolerate(
                        .nullDescriptor, .invalidParameter("the external buffer descriptor is a null pointer"))
                }
            case VASurfaceAttribDRMFormatModifiers: unsafe try checkModifiers(attribute.pointer)
            case let type: throw Refusal.attribute("surface attribute \(type.rawValue) cannot be set")
            }
        }
        guard memoryType != UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_VA) else {
            guard unsafe description == nil else {
                throw Refusal(
                    VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
                    "external buffers cannot have the memory type "
                        + "VA")
            }
            return
        }
        guard count > 0, count <= Driver.maximumSurfaces else { return }
        guard let description = unsafe description else {
            guard ExternalPicture.memoryTypes.contains(memoryType), memoryType != UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR) else {
                throw Refusal(
                    VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
                    "surfaces of memory type \(memoryType) are not "
                        + "supported")
            }
            throw Refusal.invalidParameter("the description of the external memory is missing")
        }
        external = try unsafe ExternalPicture.read(description, memoryType: memoryType, count: count)
    }

    /// Throws unless the client accepts the linear modifier, which is the only one that the driver supports.
    @unsafe private func checkModifiers(_ pointer: UnsafeMutableRawPointer?) throws {
        guard let pointer = unsafe pointer else { throw Refusal.invalidParameter("the pointer for modifiers is null") }
        let modifiers = unsafe pointer.assumingMemoryBound(to: VADRMFormatModifierList.self).pointee
        let list = unsafe try list(modifiers.modifiers, modifiers.num_modifiers)
        guard list.contains(ExternalPicture.linear) || list.contains(ExternalPicture.implicit) else {
            throw Refusal.invalidValue("only linear memory is supported")
        }
    }
}

extension VASurfaceAttrib {
    fileprivate var integer: UInt32 {
        get throws {
            guard unsafe value.type == VAGenericValueTypeInteger else {
                throw Refusal.invalidValue("a surface attribute is not an integer")
            }
            return UInt32(bitPattern: unsafe value.value.i)
        }
    }

    fileprivate var pointer: UnsafeMutableRawPointer? {
        get throws {
            guard unsafe value.type == VAGenericValueTypePointer else {
                throw Refusal.invalidParameter("a surface attribute is not a pointer")
            }
            return unsafe value.value.p
        }
    }

    fileprivate init(_ attribute: Driver.SurfaceAttribute) {
        unsafe self.init()
        unsafe type = attribute.type
        let gettable = attribute.value == nil ? 0 : VA_SURFACE_ATTRIB_GETTABLE
        unsafe flags = UInt32(gettable | (attribute.isSettable ? VA_SURFACE_ATTRIB_SETTABLE : 0))
        guard let integer = attribute.value else {
            unsafe value.type = VAGenericValueTypePointer
            return
        }
        unsafe value.type = VAGenericValueTypeInteger
        unsafe value.value.i = integer
    }
}
