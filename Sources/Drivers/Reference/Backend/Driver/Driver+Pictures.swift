internal import CVA

extension Driver {
    func beginPicture(_ id: VAContextID, _ target: VASurfaceID) throws {
        try monitor.withLock {
            let context = try context(id)
            let surface = try surface(target)
            guard context.picture == nil else {
                throw Refusal.operationFailed("vaBeginPicture was called before vaEndPicture of the previous picture")
            }
            try context.validateSurface(surface)
            guard surface.mappings == 0 else { throw Refusal.busy("surface \(target) is mapped") }
            switch context.config.kind {
            case .encode:
                let codec = try context.config.entry.requiredCodec()
                context.picture = .encode(EncodePicture(target: surface, codec: codec))
            case .decode:
                let codec = try context.config.entry.requiredCodec()
                context.picture = .decode(DecodePicture(target: surface, codec: codec))
            case .process:
                context.picture = .process(ProcessPicture(target: surface))
            }
        }
    }

    /// Renders buffers (vaRenderPicture). All ids are checked before the first buffer takes effect.
    func renderPicture(_ id: VAContextID, _ ids: [VABufferID]) throws {
        try monitor.withLock {
            let context = try context(id)
            guard let open = context.picture else {
                throw Refusal.operationFailed("vaRenderPicture was called without vaBeginPicture")
            }
            let buffers = try ids.map { try buffer($0) }
            for buffer in buffers where buffer.isMapped {
                throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "buffer \(buffer.id) is mapped while rendered")
            }
            switch open {
            case .encode(var picture):
                var stream = context.stream
                for buffer in buffers { try render(buffer, &picture, &stream, context) }
                context.picture = .encode(picture)
                context.stream = stream
            case .decode(var picture):
                for buffer in buffers { try picture.take(buffer) }
                context.picture = .decode(picture)
            case .process(var picture):
                for buffer in buffers { try render(buffer, &picture) }
                context.picture = .process(picture)
            }
        }
    }

    private func render(
        _ buffer: Buffer, _ picture: inout EncodePicture, _ stream: inout StreamState, _ context: Context
    ) throws {
        switch buffer.type {
        case VAEncSequenceParameterBufferType, VAEncPictureParameterBufferType, VAEncSliceParameterBufferType:
            try picture.buffers.take(buffer, maximumSlices: context.config.entry.maximumSlices)
        case VAEncPackedHeaderParameterBufferType:
            guard picture.pendingHeader == nil else {
                throw Refusal.invalidParameter("the data of the previous packed header parameters is missing")
            }
            picture.pendingHeader = try buffer.element(VAEncPackedHeaderParameterBuffer.self)
        case VAEncPackedHeaderDataBufferType:
            guard let pendingHeader = picture.pendingHeader else {
                throw Refusal.invalidParameter("the parameters of the packed header data are missing")
            }
            picture.pendingHeader = nil
            if let header = try RenderedHeader(
                pendingHeader, try buffer.data(), context.config, environment,
                ignoresUnnamed: capabilities.behavior.ignoresUnnamedHeaders)
            {
                picture.packed.append(header)
            }
        case VAEncMiscParameterBufferType:
            let entry = context.config.entry
            switch try MiscParameter(buffer, for: context.config, environment) {
            case .regions(let regions): picture.regions = regions
            case .intraRefresh(let refresh): picture.intraRefresh = refresh
            case .skippedPictures(let skip): picture.skip = skip
            case let lasting: try stream.apply(lasting, levels: entry.qualityLevels, capabilities.behavior)
            }
        default:
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type \(buffer.type.rawValue) is not rendered")
        }
    }
}

extension StreamState {
    fileprivate mutating func apply(_ parameter: MiscParameter, levels: Int, _ behavior: DriverBehavior) throws {
        switch parameter {
        case .qualityLevel(let level):
            guard level <= levels else { throw Refusal.invalidParameter("quality level \(level) exceeds \(levels)") }
            quality =
                behavior.quality?(Int(level)) ?? (level == 0 ? Self.defaultQuality : min(Int(level), Self.worstQuality))
        case .maximumFrameSize(let bits):
            maximumFrameBits = Int(bits)
        case .maximumSliceSize(let bits):
            maximumSliceBytes = bits == 0 ? 0 : max(Int(bits) / 8, 1)
        case .frameRate(let new):
            rate.apply(new)
        case .rateControl(let new):
            rate.apply(new)
            macroblockRateControl = unsafe new.rc_flags.bits.mb_rate_control
        case .trellis(let new):
            trellis = new
        case .hrd(let new):
            rate.bufferBits = Int(new.buffer_size)
            rate.initialFullness = new.buffer_size == 0 ? nil : Int(new.initial_buffer_fullness)
        case .temporalLayers(let new):
            rate.temporalLayers = new
        case .regions, .intraRefresh, .skippedPictures, .hint:
            // These apply to one picture only, or have no effect.
            break
        }
    }
}

extension RenderedHeader {
    /// Checks and copies a packed header. Returns nil for a header that the driver ignores.
    fileprivate init?(
        _ header: VAEncPackedHeaderParameterBuffer, _ data: HostMemory, _ config: Config.Choice, _ environment: Environment,
        ignoresUnnamed: Bool
    ) throws {
        let required: Int32? =
            switch header.type {
            case UInt32(VAEncPackedHeaderSequence.rawValue): VA_ENC_PACKED_HEADER_SEQUENCE
            case UInt32(VAEncPackedHeaderPicture.rawValue): VA_ENC_PACKED_HEADER_PICTURE
            case UInt32(VAEncPackedHeaderSlice.rawValue): VA_ENC_PACKED_HEADER_SLICE
            case UInt32(VAEncPackedHeaderRawData.rawValue):
                VA_ENC_PACKED_HEADER_RAW_DATA | VA_ENC_PACKED_HEADER_MISC
            case RenderedHeader.deprecatedSEI: VA_ENC_PACKED_HEADER_RAW_DATA | VA_ENC_PACKED_HEADER_MISC
            default: nil
            }
        guard let required else {
            throw Refusal.invalidParameter("a packed header of type \(header.type) is not supported")
        }
        if config.packedHeaders & UInt32(required) == 0 {
            if ignoresUnnamed { return nil }
            try environment.tolerate(
                .unnamedHeader,
                .invalidParameter("the config does not allow a packed header of type \(header.type)"))
        }
        let byteCount = (Int(header.bit_length) + 7) / 8
        guard byteCount > 0, byteCount <= data.byteCount else {
            throw Refusal.invalidParameter(
                "a packed header of \(header.bit_length) bits does not fit "
                    + "\(data.byteCount) bytes")
        }
        type = header.type
        bitCount = Int(header.bit_length)
        hasEmulationBytes = header.has_emulation_bytes != 0
        bytes = data.bytes(count: byteCount)
    }

    /// `VAEncPackedHeaderH264_SEI`, which is deprecated.
    static let deprecatedSEI: UInt32 = 0x8000_0001
}
