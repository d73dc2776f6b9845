internal import CVA

extension Driver {
    private static let maximumBytes = 512 << 20

    /// Creates a buffer (vaCreateBuffer). `fill` copies the client's data, if there is any, into the new buffer.
    func createBuffer(
        context id: VAContextID, type: VABufferType, elementSize: Int, count: Int, fill: (HostMemory) -> Void
    ) throws -> VABufferID {
        let config = try monitor.withLock { try context(id).config }
        guard let requirement = BufferRequirement(type, config) else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type \(type.rawValue)")
        }
        let refusal = Refusal.invalidParameter(
            "a buffer of type \(type.rawValue) cannot have \(count) × "
                + "\(elementSize) bytes")
        guard requirement.accepts(elementSize: elementSize, count: count) else { throw refusal }
        if requirement.isUseless(elementSize: elementSize) { try environment.tolerate(.uselessBuffer, refusal) }
        guard elementSize <= Self.maximumBytes / count, let memory = HostMemory(byteCount: elementSize * count) else {
            throw Refusal.allocation("no memory for \(count) × \(elementSize) bytes")
        }
        let content: Buffer.Content
        if type == VAEncCodedBufferType {
            content = .coded(CodedBuffer(memory: memory))
        } else {
            fill(memory)
            content = .data(memory)
        }
        return monitor.withLock {
            buffers.insert {
                Buffer(id: $0, type: type, elementSize: elementSize, count: count, content: content)
            }.id
        }
    }

    func setElementCount(_ id: VABufferID, _ count: Int) throws {
        try monitor.withLock {
            let buffer = try buffer(id)
            _ = try buffer.data()
            guard count > 0, count <= buffer.capacity else {
                throw Refusal.invalidParameter("\(count) elements exceed the buffer's \(buffer.capacity)")
            }
            buffer.elementCount = count
        }
    }

    /// Maps a buffer (vaMapBuffer). Waits for the picture of a coded buffer, or for the surface of a derived image. The
    /// address is valid until the buffer is unmapped.
    @unsafe func mapBuffer(_ id: VABufferID) throws -> UnsafeMutableRawPointer {
        try unsafe monitor.withLock {
            let buffer = try buffer(id)
            guard !buffer.isMapped else { throw Refusal.operationFailed("buffer \(id) is mapped already") }
            switch buffer.content {
            case .data(let memory), .image(let memory):
                buffer.isMapped = true
                return unsafe memory.address
            case .coded(let coded):
                _ = wait(for: coded)
                try markMapped(buffer)
                return unsafe coded.address
            case .surface(let surface):
                _ = wait(for: surface)
                let memory = try surface.memory()
                try markMapped(buffer)
                surface.mappings += 1
                for object in memory.objects { object.beginAccess() }
                counts.maps += 1
                return unsafe memory.address
            }
        }
    }

    /// Marks a buffer as mapped. Throws if another thread has mapped or destroyed it during the wait.
    private func markMapped(_ buffer: Buffer) throws {
        guard buffers[buffer.id] === buffer else {
            throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "buffer \(buffer.id) was destroyed")
        }
        guard !buffer.isMapped else { throw Refusal.operationFailed("buffer \(buffer.id) is mapped already") }
        buffer.isMapped = true
    }

    func unmapBuffer(_ id: VABufferID) throws {
        try monitor.withLock {
            let buffer = try buffer(id)
            guard buffer.isMapped else { throw Refusal.operationFailed("buffer \(id) is not mapped") }
            unmap(buffer)
        }
    }

    private func unmap(_ buffer: Buffer) {
        guard buffer.isMapped else { return }
        buffer.isMapped = false
        if case .surface(let surface) = buffer.content {
            surface.mappings -= 1
            for object in surface.sharedObjects { object.endAccess() }
        }
    }

    /// Destroys a buffer. The buffer of an image can only be destroyed with the image.
    func destroyBuffer(_ id: VABufferID) throws {
        try monitor.withLock {
            let buffer = try buffer(id)
            switch buffer.content {
            case .image, .surface:
                throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "buffer \(id) belongs to an image")
            case .data, .coded:
                buffers.remove(id)
            }
        }
    }

    /// Releases the buffer of an image. The caller must hold the monitor.
    func release(_ buffer: Buffer) {
        unmap(buffer)
        if case .surface(let surface) = buffer.content { surface.derivedImages -= 1 }
        buffers.remove(buffer.id)
    }

    /// Returns the type, the bytes per element and the number of elements of a buffer (vaBufferInfo).
    func bufferInfo(_ id: VABufferID) throws -> (type: VABufferType, elementSize: Int, count: Int) {
        try monitor.withLock {
            let buffer = try buffer(id)
            return (buffer.type, buffer.elementSize, buffer.elementCount)
        }
    }

    /// Waits for the picture of a coded buffer, or for the surface of a derived image (vaSyncBuffer). Other buffers are
    /// always ready.
    func syncBuffer(_ id: VABufferID, until deadline: Deadline) throws {
        try monitor.withLock {
            let isReady =
                switch try buffer(id).content {
                case .coded(let coded): wait(for: coded, until: deadline)
                case .surface(let surface): wait(for: surface, until: deadline)
                case .data, .image: true
                }
            guard isReady else { throw Refusal.timedOut("buffer \(id) is still in use") }
        }
    }
}

/// The sizes that buffers of a type may have.
struct BufferRequirement {
    /// The bytes per element: the exact number if `isExact`, else the minimum.
    private let elementBytes: Int
    private let isExact: Bool
    private let maximumCount: Int
    /// The bytes per element below which a buffer can be created, but contains no data.
    private var minUsefulBytes = 0

    /// Creates the requirement for a buffer type. Returns nil if contexts of the config do not support the buffer type.
    init?(_ type: VABufferType, _ config: Config.Choice) {
        switch config.kind {
        case .encode:
            guard let codec = config.entry.codec else { return nil }
            self.init(toEncode: type, codec)
        case .decode:
            guard let codec = config.entry.codec else { return nil }
            self.init(toDecode: type, codec)
        case .process: self.init(toProcess: type)
        }
    }

    private init?(toProcess type: VABufferType) {
        switch type {
        case VAProcPipelineParameterBufferType: unsafe self.init(exactly: VAProcPipelineParameterBuffer.self)
        case VAProcFilterParameterBufferType:
            self.init(atLeast: MemoryLayout<VAProcFilterParameterBufferBase>.size, maximumCount: 16)
        default: return nil
        }
    }

    private init?(toDecode type: VABufferType, _ codec: DriverCodec) {
        switch type {
        case VAPictureParameterBufferType:
            switch codec {
            case .h264: self.init(atLeast: VAPictureParameterBufferH264.self)
            case .hevc: self.init(atLeast: VAPictureParameterBufferHEVC.self)
            }
        case VAIQMatrixBufferType:
            switch codec {
            case .h264: self.init(atLeast: VAIQMatrixBufferH264.self)
            case .hevc: self.init(atLeast: VAIQMatrixBufferHEVC.self)
            }
        case VASliceParameterBufferType:
            switch codec {
            case .h264: self.init(atLeast: VASliceParameterBufferH264.self, maximumCount: 1 << 16)
            case .hevc: self.init(atLeast: VASliceParameterBufferHEVC.self, maximumCount: 1 << 16)
            }
        case VASliceDataBufferType: self.init(atLeast: 1, maximumCount: 1 << 28)
        case VAQMatrixBufferType:
            switch codec {
            case .h264: return nil
            // An encoder's buffer, which some clients create in any HEVC context.
            case .hevc:
                self.init(atLeast: VAQMatrixBufferHEVC.self)
                minUsefulBytes = .max
            }
        default: return nil
        }
    }

    private init?(toEncode type: VABufferType, _ codec: DriverCodec) {
        switch type {
        case VAEncSequenceParameterBufferType:
            switch codec {
            case .h264: self.init(exactly: VAEncSequenceParameterBufferH264.self)
            case .hevc: self.init(exactly: VAEncSequenceParameterBufferHEVC.self)
            }
        case VAEncPictureParameterBufferType:
            switch codec {
            case .h264: self.init(exactly: VAEncPictureParameterBufferH264.self)
            case .hevc: self.init(exactly: VAEncPictureParameterBufferHEVC.self)
            }
        case VAEncSliceParameterBufferType:
            switch codec {
            case .h264: self.init(exactly: VAEncSliceParameterBufferH264.self, maximumCount: 1 << 16)
            case .hevc: self.init(exactly: VAEncSliceParameterBufferHEVC.self, maximumCount: 1 << 16)
            }
        default: self.init(ofAnyCodec: type)
        }
    }

    private init?(ofAnyCodec type: VABufferType) {
        switch type {
        case VAEncCodedBufferType: self.init(atLeast: 1, maximumCount: 1)
        case VAEncPackedHeaderParameterBufferType: self.init(exactly: VAEncPackedHeaderParameterBuffer.self)
        case VAEncPackedHeaderDataBufferType: self.init(atLeast: 1, maximumCount: 1 << 20)
        case VAEncMiscParameterBufferType:
            self.init(atLeast: MiscParameter.headerBytes, maximumCount: 1)
            minUsefulBytes = MiscParameter.headerBytes + 4
        default: return nil
        }
    }

    private init<Value>(exactly type: Value.Type, maximumCount: Int = 1) {
        elementBytes = MemoryLayout<Value>.size
        isExact = true
        self.maximumCount = maximumCount
    }

    /// Allows larger elements, because the structures of newer clients are longer.
    private init<Value>(atLeast type: Value.Type, maximumCount: Int = 1) {
        self.init(atLeast: MemoryLayout<Value>.size, maximumCount: maximumCount)
    }

    private init(atLeast elementBytes: Int, maximumCount: Int) {
        self.elementBytes = elementBytes
        isExact = false
        self.maximumCount = maximumCount
    }

    /// Whether a buffer with such elements can be created, but has no effect when it is rendered.
    func isUseless(elementSize: Int) -> Bool { elementSize < minUsefulBytes }

    func accepts(elementSize: Int, count: Int) -> Bool {
        (isExact ? elementSize == elementBytes : elementSize >= elementBytes) && count > 0 && count <= maximumCount
    }
}
