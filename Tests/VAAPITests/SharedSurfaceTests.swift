import CVA
import Glibc
import ReferenceDisplay
import TestOracles
import Testing
import VideoBase

@testable import VAAPI

/// Tests surfaces whose memory is shared, and video processing, through the VA objects.
@Suite struct SharedSurfaceTests {
    static let size = VideoSize(width: 80, height: 48)

    /// Returns the samples of all planes.
    private func samples(_ surface: Surface) throws -> [UInt8] {
        try unsafe surface.withUnsafePlanes(.read) { planes in
            let format = unsafe planes.format
            return (0..<format.planeCount).flatMap { plane in
                unsafe (0..<format.rows(plane: plane, height: surface.size.height)).flatMap { row in
                    unsafe UnsafeRawBufferPointer(
                        start: planes.base(plane) + row * planes.pitch(plane),
                        count: format.rowBytes(plane: plane, width: surface.size.width))
                }
            }
        }
    }

    private func fill(_ surface: Surface, _ value: (Int) -> UInt8) throws {
        try unsafe surface.withUnsafePlanes(.readWrite) { planes in
            let format = unsafe planes.format
            for plane in 0..<format.planeCount {
                for row in 0..<format.rows(plane: plane, height: surface.size.height) {
                    for column in 0..<format.rowBytes(plane: plane, width: surface.size.width) {
                        unsafe planes.base(plane).storeBytes(
                            of: value(plane * 90 + row * 7 + column), toByteOffset: row * planes.pitch(plane) + column,
                            as: UInt8.self)
                    }
                }
            }
        }
    }

    /// A limit of file descriptors is no input or output error: F_DUPFD fails with EMFILE, and with EBADF for a
    /// descriptor that is not open (fcntl(2)).
    @Test func descriptorErrorsHaveTheirCategory() {
        for code in [EMFILE, ENFILE] {
            let error = SharedPicture.copyError(code)
            #expect(error.category == .unavailable && error.description.contains("ulimit -n"), "\(error)")
        }
        let object = SharedPicture.Object(descriptor: -1, byteCount: 0, modifier: SharedPicture.linear)
        do {
            _ = try SharedPicture(format: .nv12, size: Self.size, borrowing: [object], planes: [])
            Issue.record("copied")
        } catch {
            #expect((error as? VaencError)?.category == .inputOutput, "\(error)")
        }
    }

    @Test(arguments: [PixelFormat.nv12, .p010, .i420, .yv12, .yuyv, .uyvy, .bgra, .rgba])
    func sharedSurfacesHaveTheSameMemory(format: PixelFormat) throws {
        let (owner, other) = (try ReferenceDisplay.open(), try ReferenceDisplay.open())
        let original = try #require(try Surface.make(owner, count: 1, size: Self.size, format: format).first)
        try fill(original) { UInt8(truncatingIfNeeded: $0) }
        var picture: SharedPicture? = try original.export(.readWrite)
        #expect(picture?.planes.count == format.planeCount && picture?.format == format)
        let descriptor = try #require(picture?.objects.first?.descriptor)
        let copy = try Surface.make(other, in: try #require(picture))
        #expect(try (samples(copy) == samples(original)) as Bool)
        try fill(copy) { UInt8(truncatingIfNeeded: $0 &* 3 &+ 1) }
        #expect(try (samples(original) == samples(copy)) as Bool)
        #expect(fcntl(descriptor, F_GETFD) >= 0)
        picture = nil
        #expect(fcntl(descriptor, F_GETFD) >= 0, "the surface keeps what it is made of")
    }

    /// Returns the number of descriptors of the process that refer to the same object.
    private func descriptors(like one: Int32) -> Int {
        func object(_ descriptor: Int32) -> [UInt]? {
            var status = stat()
            return unsafe fstat(descriptor, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : nil
        }
        let expected = object(one)
        return (0..<4096).count { object($0) == expected }
    }

    @Test func descriptorsAreBorrowedOrOwned() throws {
        let descriptor = unsafe vaenc_memfd_create("test", VAENC_MFD_CLOEXEC)
        #expect(ftruncate(descriptor, 4096) == 0)
        let object = SharedPicture.Object(descriptor: descriptor, byteCount: 4096, modifier: SharedPicture.linear)
        let size = VideoSize(width: 16, height: 16)
        let planes = [
            SharedPicture.Plane(object: 0, offset: 0, pitch: 16), SharedPicture.Plane(object: 0, offset: 256, pitch: 16),
        ]
        var borrowed: SharedPicture? = try SharedPicture(format: .nv12, size: size, borrowing: [object], planes: planes)
        #expect(borrowed?.objects.first?.descriptor != descriptor && descriptors(like: descriptor) == 2)
        let display = try ReferenceDisplay.open()
        var surface: Surface? = try Surface.make(display, in: try #require(borrowed))
        #expect(try samples(try #require(surface)).count == 384)
        #expect(descriptors(like: descriptor) > 2, "the driver has its own")
        borrowed = nil
        surface = nil
        // Surfaces are released on another thread.
        Polling.wait { descriptors(like: descriptor) == 1 }
        #expect(descriptors(like: descriptor) == 1)
        var owned: SharedPicture? = SharedPicture(format: .nv12, size: size, owning: [object], planes: planes)
        #expect(owned?.size == size)
        let witness = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        defer { close(witness) }
        owned = nil
        #expect(descriptors(like: witness) == 1)
    }

    @Test func refusedSharedPictureIsAnError() throws {
        let display = try ReferenceDisplay.open()
        let picture = SharedPicture(
            format: .nv12, size: Self.size,
            owning: [SharedPicture.Object(descriptor: -1, byteCount: 0, modifier: 0)],
            planes: [SharedPicture.Plane(object: 0, offset: 0, pitch: 80), SharedPicture.Plane(object: 0, offset: 3840, pitch: 80)])
        let error = #expect(throws: VAError.self) { try Surface.make(display, in: picture) }
        #expect(error?.call == "vaCreateSurfaces" && error?.status == .invalidParameter)
        let unknown = SharedPicture(format: .rgb24, size: Self.size, owning: [], planes: [])
        #expect(throws: VAError.self) { try Surface.make(display, in: unknown) }
    }

    @Test func processorScalesAndFillsTheBackground() throws {
        let display = try ReferenceDisplay.open()
        #expect(try VideoProcessor.isOffered(by: display))
        let target = VideoSize(width: 160, height: 64)
        let processor = try VideoProcessor(display, size: target)
        #expect(processor.surfaces.pixelFormats.contains(.nv12) && processor.surfaces.memoryTypes.contains(.drmPrime2))
        let source = try #require(try Surface.make(display, count: 1, size: Self.size, format: .yuyv).first)
        try fill(source) { _ in 100 }
        let result = try #require(try Surface.make(display, count: 1, size: target).first)
        var parameters = ProcessingParameters(
            source: source, targetRegion: VideoRectangle(x: 40, y: 0, width: 80, height: 64))
        parameters.background = 0xffff_ffff
        parameters.sourceColor.matrix = 1
        parameters.targetColor.matrix = 1
        try processor.process(parameters, into: result)
        let actual = try samples(result)
        let expected = (0..<64).flatMap { _ in (0..<160).map { (40..<120).contains($0) ? 100 : 235 as UInt8 } }
        #expect(Array(actual[..<expected.count]) == expected)
        let error = #expect(throws: VAError.self) {
            try processor.process(
                ProcessingParameters(source: source, sourceRegion: VideoRectangle(x: 0, y: 0, width: 82, height: 48)),
                into: result)
        }
        #expect(error?.call == "vaEndPicture")
    }

    @Test func surfaceBufferShowsItsPart() throws {
        let display = try ReferenceDisplay.open()
        let surface = try #require(try Surface.make(display, count: 1, size: Self.size).first)
        try fill(surface) { UInt8(truncatingIfNeeded: $0) }
        let visible = VideoSize(width: 30, height: 20)
        let buffer = try SurfaceBuffer(surface: surface, visible: visible, offset: (x: 10, y: 4))
        #expect(buffer.size == visible && buffer.format == .nv12)
        try unsafe buffer.withUnsafePlanes { planes in
            #expect(unsafe planes.size == visible)
            #expect(unsafe planes.base(0).load(as: UInt8.self) == 4 * 7 + 10)
            #expect(unsafe planes.base(1).load(as: UInt8.self) == 90 + 2 * 7 + 10)
        }
        for offset in [(x: 52, y: 0), (x: 0, y: 30), (x: 1, y: 0), (x: -2, y: 0)] {
            #expect(throws: VaencError.self) { try SurfaceBuffer(surface: surface, visible: visible, offset: offset) }
        }
    }
}
