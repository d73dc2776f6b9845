internal import CVA

extension VADriverVTableVPP {
    mutating func fill() {
        version = UInt32(VA_DRIVER_VTABLE_VPP_VERSION)
        unsafe vaQueryVideoProcFilters = { context, id, filters, count in
            unsafe call(context) { driver in
                try driver.checkProcesses(id)
                try unsafe answer([VAProcFilterDeinterlacing], filters, count)
            }
        }
        unsafe vaQueryVideoProcFilterCaps = { context, id, type, capabilities, count in
            unsafe call(context) { driver in
                try driver.checkProcesses(id)
                guard type == VAProcFilterDeinterlacing else {
                    throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_FILTER, "filter type \(type.rawValue) is not supported")
                }
                var bob = VAProcFilterCapDeinterlacing()
                bob.type = VAProcDeinterlacingBob
                try unsafe answer(
                    [bob], capabilities?.assumingMemoryBound(to: VAProcFilterCapDeinterlacing.self), count)
            }
        }
        unsafe vaQueryVideoProcPipelineCaps = { context, id, filters, count, capabilities in
            unsafe call(context) { driver in
                let entry = try driver.checkProcesses(id)
                try driver.checkFilters(unsafe list(filters, count))
                let answer = try unsafe resultPointer(capabilities)
                unsafe answer.pointee = VAProcPipelineCaps(entry)
            }
        }
    }
}

/// Writes the number of entries to `count`, and the entries to the client's array. Throws if the client's count is too
/// small.
private func answer<Entry>(
    _ list: [Entry], _ room: UnsafeMutablePointer<Entry>?, _ count: UnsafeMutablePointer<UInt32>?
) throws {
    let count = try unsafe resultPointer(count)
    let capacity = unsafe count.pointee
    unsafe count.pointee = UInt32(list.count)
    guard capacity >= list.count else {
        throw Refusal(VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "there is space for \(capacity) of \(list.count) entries")
    }
    try unsafe store(list, room)
}

extension Driver {
    @discardableResult
    fileprivate func checkProcesses(_ id: VAContextID) throws -> Capabilities.Entry {
        try monitor.withLock {
            let config = try context(id).config
            guard config.kind == .process else {
                throw Refusal(VA_STATUS_ERROR_INVALID_CONTEXT, "context \(id) is not for video processing")
            }
            return config.entry
        }
    }

    fileprivate func checkFilters(_ ids: [VABufferID]) throws {
        try monitor.withLock {
            for id in ids where try buffer(id).type != VAProcFilterParameterBufferType {
                throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "buffer \(id) is not a filter")
            }
        }
    }
}

/// The lists that the pipeline capabilities point to. They are never freed.
///
/// SAFETY: each list is initialized once, as a static variable, and only read afterwards.
private enum ProcessLists {
    nonisolated(unsafe) static let standards = unsafe permanentCopy([
        VAProcColorStandardNone, VAProcColorStandardBT601, VAProcColorStandardBT709, VAProcColorStandardBT470M,
        VAProcColorStandardBT470BG, VAProcColorStandardSMPTE170M, VAProcColorStandardSMPTE240M,
        VAProcColorStandardGenericFilm, VAProcColorStandardSRGB, VAProcColorStandardSTRGB,
        VAProcColorStandardXVYCC601, VAProcColorStandardXVYCC709, VAProcColorStandardBT2020,
        VAProcColorStandardExplicit,
    ])
    nonisolated(unsafe) static let formats = unsafe permanentCopy(SurfaceFormat.all.map(\.fourcc))

    private static func permanentCopy<Value>(_ list: [Value]) -> UnsafeMutableBufferPointer<Value> {
        let memory = UnsafeMutableBufferPointer<Value>.allocate(capacity: list.count)
        _ = unsafe memory.initialize(from: list)
        return unsafe memory
    }
}

extension VAProcPipelineCaps {
    fileprivate init(_ entry: Capabilities.Entry) {
        unsafe self.init()
        unsafe filter_flags = UInt32(VA_FILTER_SCALING_MASK | VA_FILTER_INTERPOLATION_MASK)
        unsafe rotation_flags = 1 << UInt32(VA_ROTATION_NONE)
        let standards = unsafe ProcessLists.standards
        unsafe input_color_standards = standards.baseAddress
        unsafe num_input_color_standards = UInt32(standards.count)
        unsafe output_color_standards = standards.baseAddress
        unsafe num_output_color_standards = UInt32(standards.count)
        let formats = unsafe ProcessLists.formats
        unsafe input_pixel_format = formats.baseAddress
        unsafe num_input_pixel_formats = UInt32(formats.count)
        unsafe output_pixel_format = formats.baseAddress
        unsafe num_output_pixel_formats = UInt32(formats.count)
        let (width, height) = (UInt32(entry.maximumWidth), UInt32(entry.maximumHeight))
        unsafe (max_input_width, max_input_height) = (width, height)
        unsafe (max_output_width, max_output_height) = (width, height)
        unsafe (min_input_width, min_input_height) = (UInt32(entry.minimumWidth), UInt32(entry.minimumHeight))
        unsafe (min_output_width, min_output_height) = (UInt32(entry.minimumWidth), UInt32(entry.minimumHeight))
    }
}
