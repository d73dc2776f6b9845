import CVA
import Glibc
import Testing

/// Tests surfaces that are shared by descriptors: vaExportSurfaceHandle, and vaCreateSurfaces in clients' memory.
@Suite struct SurfaceExportTests {
    static let formats: [(fourcc: Int32, rtFormat: Int32, composed: String, separate: [String])] = [
        (VA_FOURCC_NV12, VA_RT_FORMAT_YUV420, "NV12", ["R8  ", "GR88"]),
        (VA_FOURCC_P010, VA_RT_FORMAT_YUV420_10, "P010", ["R16 ", "GR32"]),
    ]

    private func surface(_ client: Client, _ format: Int, _ width: Int, _ height: Int) -> VASurfaceID {
        client.createSurfaces(
            width, height, 1, format: Self.formats[format].rtFormat,
            [VASurfaceAttrib(VASurfaceAttribPixelFormat, Self.formats[format].fourcc)]
        ).1[0]
    }

    @Test(arguments: formats.indices, [VA_EXPORT_SURFACE_SEPARATE_LAYERS, VA_EXPORT_SURFACE_COMPOSED_LAYERS])
    func exportedMemoryIsTheSurfaceItself(format: Int, layers: Int32) throws {
        let (owner, other) = (Client(), Client())
        for (width, height) in [(64, 64), (130, 38), (33, 17)] {
            let original = surface(owner, format, width, height)
            owner.fill(original) { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
            let (status, shared) = owner.export(original, flags: layers | VA_EXPORT_SURFACE_READ_WRITE)
            try #require(status == VA_STATUS_SUCCESS)
            let expected = Self.formats[format]
            #expect(shared.description.fourcc == UInt32(expected.fourcc))
            #expect(shared.description.width == UInt32(width) && shared.description.height == UInt32(height))
            let names = layers == VA_EXPORT_SURFACE_COMPOSED_LAYERS ? [expected.composed] : expected.separate
            #expect(shared.layers.map(\.drm_format) == names.map(code))
            #expect(shared.layers.allSatisfy { Int($0.num_planes) == expected.separate.count / names.count })
            #expect(shared.objects.allSatisfy { $0.drm_format_modifier == 0 })

            let (imported, copy) = other.importSurface(shared.description, width, height, format: expected.rtFormat)
            try #require(imported == VA_STATUS_SUCCESS)
            #expect((other.samples(copy) == owner.samples(original)) as Bool)
            // The memory is shared: what one display writes, the other display and the memory show.
            other.fill(copy) { UInt8(truncatingIfNeeded: $0 &* 11 &+ 5) }
            #expect((owner.samples(original) == other.samples(copy)) as Bool)
            let first = try #require(shared.planes.first)
            #expect(Array(shared.bytes(of: first.object)[first.offset..<first.offset + 4]) == [5, 16, 27, 38])
            #expect(shared.write([99], at: first.offset))
            #expect(owner.samples(original)[0] == 99 && other.samples(copy)[0] == 99)
            // The memory outlives its creator.
            #expect(owner.destroySurfaces([original]) == VA_STATUS_SUCCESS)
            #expect(other.samples(copy)[0] == 99)
            // An imported surface can be exported again.
            let (again, second) = other.export(copy, flags: layers | VA_EXPORT_SURFACE_READ_ONLY)
            #expect(again == VA_STATUS_SUCCESS && second.bytes(of: 0) == shared.bytes(of: 0))
        }
    }

    @Test func readOnlyExportCannotBeWritten() {
        let client = Client()
        let (_, shared) = client.export(surface(client, 0, 64, 64), flags: VA_EXPORT_SURFACE_READ_ONLY)
        #expect(shared.bytes(of: 0).count >= 64 * 64 * 3 / 2)
        #expect(!shared.write([1], at: 0) && errno == EBADF)
        #expect(client.importSurface(shared.description, 64, 64).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    @Test func wrongExportFlagsAndTypesAreRefused() throws {
        let client = Client()
        let id = surface(client, 0, 64, 64)
        let (_, shared) = client.export(id, flags: VA_EXPORT_SURFACE_READ_WRITE)
        let exported = try #require(shared.objects.first).fd
        let before = descriptors(like: exported)
        #expect(client.export(id, flags: 0x10).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(client.export(id, flags: 0xc).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(client.export(CallStatusTests.wrong, flags: 1).0 == VA_STATUS_ERROR_INVALID_SURFACE)
        var description = vaenc_prime_surface()
        for type in [0, 1, 4, 0x1000_0000, 0x2000_0000, 0x0800_0000] as [UInt32] {
            #expect(
                client.table.vaExportSurfaceHandle(client.context, id, type, 1, &description)
                    == VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE)
        }
        let prime = UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)
        #expect(
            client.table.vaExportSurfaceHandle(client.context, id, prime, 1, nil) == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(before == 2 && descriptors(like: exported) == before, "the driver's own and the client's")
    }

    /// Returns NV12 of 16×16 without padding between rows, as other programs allocate it.
    private func tight() -> SharedSurface {
        SharedSurface(
            bytes: (0..<384).map { UInt8(truncatingIfNeeded: $0) }, fourcc: VA_FOURCC_NV12, layer: "NV12", width: 16,
            height: 16, planes: [(0, 16), (256, 16)])
    }

    @Test func malformedDescriptorsAreRefused() throws {
        let client = Client()
        let shared = tight()
        #expect(client.importSurface(shared.description, 16, 16).0 == VA_STATUS_SUCCESS)
        typealias Change = (inout vaenc_prime_surface) -> Void
        var (pipes, empty) = ([Int32](repeating: 0, count: 2), memory([]))
        #expect(pipe(&pipes) == 0)
        defer { for descriptor in pipes + [empty] { close(descriptor) } }
        let changes: [(String, Change)] = [
            ("format", { $0.fourcc = code("P010") }), ("unknown format", { $0.fourcc = code("ABCD") }),
            ("width", { $0.width = 15 }), ("height", { $0.height = 15 }), ("no width", { $0.width = 0 }),
            ("no objects", { $0.num_objects = 0 }), ("five objects", { $0.num_objects = 5 }),
            ("many objects", { $0.num_objects = .max }), ("no layers", { $0.num_layers = 0 }),
            ("five layers", { $0.num_layers = 5 }), ("second layer", { $0.num_layers = 2 }),
            ("no planes", { $0.layers.0.num_planes = 0 }), ("one plane", { $0.layers.0.num_planes = 1 }),
            ("three planes", { $0.layers.0.num_planes = 3 }), ("five planes", { $0.layers.0.num_planes = 5 }),
            ("layer's format", { $0.layers.0.drm_format = code("R8  ") }),
            ("tiles", { $0.objects.0.drm_format_modifier = 1 << 56 | 1 }),
            ("object", { $0.layers.0.object_index.1 = 1 }), ("far object", { $0.layers.0.object_index.0 = .max }),
            ("luma offset", { $0.layers.0.offset.0 = 129 }), ("chroma offset", { $0.layers.0.offset.1 = 257 }),
            ("far offset", { $0.layers.0.offset.1 = .max }), ("luma pitch", { $0.layers.0.pitch.0 = 15 }),
            ("chroma pitch", { $0.layers.0.pitch.1 = 17 }), ("no pitch", { $0.layers.0.pitch.0 = 0 }),
            ("far pitch", { $0.layers.0.pitch.0 = .max }), ("object's size", { $0.objects.0.size = 385 }),
            ("less than planes", { $0.objects.0.size = 383 }), ("far size", { $0.objects.0.size = .max }),
            ("no descriptor", { $0.objects.0.fd = -1 }), ("unopened descriptor", { $0.objects.0.fd = .max }),
            ("pipe", { $0.objects.0.fd = pipes[0] }), ("empty file", { $0.objects.0.fd = empty }),
        ]
        let before = descriptors(like: shared.objects[0].fd)
        for (name, change) in changes {
            var description = shared.description
            change(&description)
            let expected =
                ["format", "unknown format"].contains(name)
                ? VA_STATUS_ERROR_INVALID_VALUE : VA_STATUS_ERROR_INVALID_PARAMETER
            #expect(client.importSurface(description, 16, 16).0 == expected, "\(name)")
        }
        #expect(client.importSurface(shared.description, 18, 16).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(descriptors(like: shared.objects[0].fd) == before, "a refusal keeps no descriptor")
        // The import covers a part of the picture; the object has no size, and the modifier is unknown.
        var description = shared.description
        description.objects.0.size = 0
        description.objects.0.drm_format_modifier = 0xff_ffff_ffff_ffff
        #expect(client.importSurface(description, 14, 12).0 == VA_STATUS_SUCCESS)
    }

    @Test func importNeedsDescriptorAndType() {
        let client = Client()
        let type = VASurfaceAttrib(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)
        var pointer = VASurfaceAttrib(VASurfaceAttribExternalBufferDescriptor, 0)
        #expect(client.createSurfaces(16, 16, 1, [type]).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        #expect(client.createSurfaces(16, 16, 1, [type, pointer]).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        pointer.value.type = VAGenericValueTypePointer
        #expect(client.createSurfaces(16, 16, 1, [type, pointer]).0 == VA_STATUS_ERROR_INVALID_PARAMETER)
        var shared = tight().description
        withUnsafeMutablePointer(to: &shared) { description in
            pointer.value.value.p = UnsafeMutableRawPointer(description)
            #expect(client.createSurfaces(16, 16, 1, [pointer]).0 == VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE)
        }
    }

    @Test func olderExternalBuffersAreImported() throws {
        let client = Client()
        let (first, second) = (tight(), tight())
        #expect(second.write([77], at: 0))
        var handles = [first, second].map { UInt(bitPattern: Int($0.objects[0].fd)) }
        var buffers = VASurfaceAttribExternalBuffers()
        buffers.pixel_format = UInt32(VA_FOURCC_NV12)
        buffers.width = 16
        buffers.height = 16
        buffers.data_size = 384
        buffers.num_planes = 2
        buffers.pitches = (16, 16, 0, 0)
        buffers.offsets = (0, 256, 0, 0)
        func status(_ count: Int, _ change: (inout VASurfaceAttribExternalBuffers) -> Void) -> (VAStatus, [VASurfaceID]) {
            handles.withUnsafeMutableBufferPointer { list in
                var copy = buffers
                copy.buffers = list.baseAddress
                copy.num_buffers = UInt32(list.count)
                change(&copy)
                return withUnsafeMutablePointer(to: &copy) { description in
                    var pointer = VASurfaceAttrib(VASurfaceAttribExternalBufferDescriptor, 0)
                    pointer.value.type = VAGenericValueTypePointer
                    pointer.value.value.p = UnsafeMutableRawPointer(description)
                    let type = VASurfaceAttrib(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME)
                    return client.createSurfaces(16, 16, count, [type, pointer])
                }
            }
        }
        let (good, ids) = status(2) { _ in }
        try #require(good == VA_STATUS_SUCCESS)
        #expect((client.samples(ids[0]) == first.bytes(of: 0)) as Bool)
        #expect(client.samples(ids[1]) == second.bytes(of: 0) && client.samples(ids[1])[0] == 77)
        let wrong = VA_STATUS_ERROR_INVALID_PARAMETER
        #expect(status(3) { _ in }.0 == wrong)
        #expect(status(1) { $0.buffers = nil }.0 == wrong)
        #expect(status(1) { $0.num_planes = 0 }.0 == wrong)
        #expect(status(1) { $0.num_planes = 5 }.0 == wrong)
        #expect(status(1) { $0.data_size = 385 }.0 == wrong)
        #expect(status(1) { $0.pitches.1 = 15 }.0 == wrong)
        #expect(status(1) { $0.offsets.1 = 257 }.0 == wrong)
        #expect(status(1) { $0.flags = UInt32(VA_SURFACE_EXTBUF_DESC_ENABLE_TILING) }.0 == wrong)
        #expect(status(1) { $0.pixel_format = code("P010") }.0 == wrong)
    }

    @Test func planesInTwoObjectsAreShared() throws {
        let client = Client()
        let whole = tight()
        let bytes = whole.bytes(of: 0)
        var description = whole.description
        let luma = memory(Array(bytes[..<256]))
        let chroma = memory([0, 0] + Array(bytes[256...]))
        defer {
            close(luma)
            close(chroma)
        }
        description.num_objects = 2
        description.objects.0 = vaenc_prime_object(fd: luma, size: 256, drm_format_modifier: 0)
        description.objects.1 = vaenc_prime_object(fd: chroma, size: 130, drm_format_modifier: 0)
        description.layers.0.object_index = (0, 1, 0, 0)
        description.layers.0.offset = (0, 2, 0, 0)
        let (status, id) = client.importSurface(description, 16, 16)
        try #require(status == VA_STATUS_SUCCESS)
        #expect((client.samples(id) == bytes) as Bool)
        let (exported, again) = client.export(id, flags: VA_EXPORT_SURFACE_COMPOSED_LAYERS | VA_EXPORT_SURFACE_READ_WRITE)
        #expect(exported == VA_STATUS_SUCCESS && again.objects.count == 2)
        #expect(again.planes.map(\.object) == [0, 1] && again.planes.map(\.offset) == [0, 2])
        #expect(Client().importSurface(again.description, 16, 16).0 == VA_STATUS_SUCCESS)
    }

    @Test func surfacesNeedTheLinearModifier() {
        let client = Client()
        func status(_ modifiers: [UInt64]) -> VAStatus {
            var list = modifiers
            return list.withUnsafeMutableBufferPointer { entries in
                var modifiers = VADRMFormatModifierList(
                    num_modifiers: UInt32(entries.count), modifiers: entries.baseAddress)
                return withUnsafeMutablePointer(to: &modifiers) { pointer in
                    var attribute = VASurfaceAttrib(VASurfaceAttribDRMFormatModifiers, 0)
                    attribute.value.type = VAGenericValueTypePointer
                    attribute.value.value.p = UnsafeMutableRawPointer(pointer)
                    return client.createSurfaces(64, 64, 1, [attribute]).0
                }
            }
        }
        #expect(status([1 << 56 | 1, 0]) == VA_STATUS_SUCCESS)
        #expect(status([1 << 56 | 1]) == VA_STATUS_ERROR_INVALID_VALUE)
    }
}
