internal import CVA
internal import Glibc
package import VideoBase

/// The memory of a surface that the driver exported as a linear DMA-BUF. The program maps it once.
@safe final class ExportedPicture: DirectMemory {
    private let picture: SharedPicture
    // SAFETY: The memory is mapped in init and unmapped in deinit. Users of the picture order their accesses.
    private nonisolated(unsafe) let bases: [UnsafeMutableRawPointer]
    private let byteCounts: [Int]

    /// Maps the memory of a picture.
    ///
    /// - Parameter picture: An exported picture of two planes.
    /// - Throws: `unavailable` if the memory is not linear, cannot be mapped or is too small.
    init(_ picture: SharedPicture) throws {
        self.picture = picture
        func failure(_ what: String) -> VaencError { VaencError(.unavailable, "an exported surface of \(picture.size) \(what)") }
        guard picture.objects.allSatisfy({ $0.modifier == SharedPicture.linear }) else { throw failure("is not linear") }
        guard picture.format == .nv12 || picture.format == .p010, picture.planes.count == picture.format.planeCount else {
            throw failure("has \(picture.planes.count) planes")
        }
        for (index, plane) in picture.planes.enumerated() {
            let rowBytes = picture.format.rowBytes(plane: index, width: picture.size.width)
            let (last, isTooLarge) = plane.pitch.multipliedReportingOverflow(by: picture.format.rows(plane: index, height: picture.size.height) - 1)
            let (end, isLate) = last.addingReportingOverflow(plane.offset + rowBytes)
            let isInside = plane.pitch >= rowBytes && !isTooLarge && !isLate && end <= picture.objects[plane.object].byteCount
            guard isInside else { throw failure("has a plane outside of its memory") }
        }
        var bases: [UnsafeMutableRawPointer] = unsafe []
        for object in picture.objects {
            let memory = unsafe mmap(nil, object.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, object.descriptor, 0)
            guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
                for index in unsafe bases.indices { unsafe munmap(bases[index], picture.objects[index].byteCount) }
                throw failure("cannot be mapped")
            }
            unsafe bases.append(memory)
        }
        unsafe self.bases = bases
        byteCounts = picture.objects.map(\.byteCount)
    }

    deinit {
        for index in byteCounts.indices { unsafe munmap(bases[index], byteCounts[index]) }
    }

    var kind: DirectMemoryKind { .exported }

    func beginDrawing(_ access: Surface.Access, on display: Display, surface: () -> String) throws {
        try picture.beginAccess(access, on: display, surface: surface)
    }

    func endDrawing(_ access: Surface.Access, surface: () -> String) throws { try picture.endAccess(access, surface: surface) }

    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) rethrows -> R {
        let planes = picture.planes
        let (first, second) = (planes[0], planes[1])
        return unsafe try body(
            PixelPlanes(
                format: picture.format, size: visible, allocatedSize: picture.size,
                bases: (bases[first.object] + first.offset, bases[second.object] + second.offset, nil),
                pitches: (first.pitch, second.pitch, 0)))
    }
}

extension Surface {
    /// Creates linear surfaces, exports their memory and maps it.
    ///
    /// - Throws: An error if the driver does not create or export such surfaces.
    package static func makeExported(_ display: Display, count: Int, size: VideoSize, format: PixelFormat) throws -> [Surface] {
        try (0..<count).map { _ in
            let surface = try makeLinear(display, size: size, format: format)
            let memory = try ExportedPicture(surface.export(.readWrite))
            return Surface(display, id: surface.id, size: size, format: format, direct: memory, owner: surface)
        }
    }

    private static func makeLinear(_ display: Display, size: VideoSize, format: PixelFormat) throws -> Surface {
        let object = "linear \(format.rawValue) surface of \(size)"
        guard let fourCC = FourCC(format) else { throw VAError(call: "vaCreateSurfaces", status: .unsupportedMemoryType, object: object) }
        var id = VASurfaceID(VA_INVALID_SURFACE)
        var modifier = SharedPicture.linear
        // SAFETY: The driver reads the list before vaCreateSurfaces returns.
        let status = unsafe withUnsafeMutablePointer(to: &modifier) { modifiers in
            var modifierList = unsafe VADRMFormatModifierList(num_modifiers: 1, modifiers: modifiers)
            return unsafe withUnsafeMutablePointer(to: &modifierList) { pointer in
                var list = unsafe [
                    attribute(VASurfaceAttribPixelFormat, fourCC.rawValue),
                    attribute(VASurfaceAttribDRMFormatModifiers, pointer: pointer),
                ]
                return unsafe vaCreateSurfaces(
                    display.handle, RTFormat(format).rawValue, CUnsignedInt(clamping: size.width), CUnsignedInt(clamping: size.height), &id, 1,
                    &list, CUnsignedInt(list.count))
            }
        }
        try display.check(status, call: "vaCreateSurfaces", object: object)
        return Surface(display, id: id, size: size, format: format)
    }
}
