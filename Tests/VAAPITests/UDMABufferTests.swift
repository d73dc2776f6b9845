import Glibc
import ReferenceDisplay
import TestOracles
import Testing
import VideoBase

@testable import VAAPI

/// Memory that the kernel's udmabuf device makes DMA-BUFs of.
@Suite(.serialized) struct UDMABufferTests {
    private static let size = VideoSize(width: 258, height: 130)

    /// Returns the number of open descriptors of pictures' memory, with its DMA-BUFs.
    private var openPictures: Int {
        (0..<4096).count { descriptor in
            var path = [CChar](repeating: 0, count: 128)
            let count = unsafe readlink("/proc/self/fd/\(descriptor)", &path, path.count)
            let name = String(decoding: path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // The kernel's DMA-BUFs have names of their own.
            return name.contains("vaenc picture") || name.hasPrefix("/dmabuf")
        }
    }

    private func error(_ body: () throws -> Void) -> VaencError? {
        do {
            try body()
            return nil
        } catch { return error as? VaencError }
    }

    @Test func devicesThatCannotBeOpened() throws {
        let absent = try #require(error { _ = try UDMABufferDevice("/dev/nosuch-udmabuf") })
        #expect(absent.category == .unavailable && absent.message == "there is no device /dev/nosuch-udmabuf")
        let folder = try #require(error { _ = try UDMABufferDevice("/dev") })
        #expect(folder.category == .unavailable && folder.message == "cannot open /dev (Is a directory)")
    }

    @Test(.enabled(if: geteuid() != 0)) func deviceWithoutPermission() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([], to: folder + "/device")
            #expect(unsafe chmod(folder + "/device", 0) == 0)
            let denied = try #require(error { _ = try UDMABufferDevice(folder + "/device") })
            #expect(denied.category == .noPermission)
        }
    }

    /// /dev/null knows no request of udmabuf.
    @Test func refusedMemoryIsClosed() throws {
        let display = try ReferenceDisplay.open()
        let device = try UDMABufferDevice("/dev/null")
        let refused = try #require(
            error { _ = try Surface.makeInUDMABuffers(display, count: 2, size: Self.size, format: .nv12, device: device) })
        #expect(refused.category == .unavailable && refused.message.contains("/dev/null refuses a DMA-BUF"), "\(refused)")
        #expect(openPictures == 0)
        // Formats and sizes without such a layout.
        for (format, size) in [(PixelFormat.i420, Self.size), (.nv12, VideoSize(width: 1 << 20, height: 1 << 20))] {
            let refused = error { _ = try Surface.makeInUDMABuffers(display, count: 1, size: size, format: format, device: device) }
            #expect(refused?.category == .unavailable)
        }
    }

    @Test func memoryHasSealedSize() throws {
        let memory = try SealedMemory(byteCount: 8192)
        #expect(ftruncate(memory.descriptor, 4096) == -1 && errno == EPERM)
        let start = unsafe try memory.map()
        unsafe start.storeBytes(of: 7, toByteOffset: 8191, as: UInt8.self)
        #expect(unsafe munmap(start, 8192) == 0)
        #expect(error { _ = try SealedMemory(byteCount: -1) }?.category == .unavailable)
    }

    /// Runs the next tests in a process that has the simulated device.
    @Test(.disabled(if: isSimulated)) func withTheSimulatedDevice() throws {
        let program = try #require(
            unsafe realpath("/proc/self/exe", nil).map { path in
                defer { unsafe free(path) }
                return unsafe String(cString: path)
            })
        let run = try ProcessRunner.run(
            program, ["--testing-library", "swift-testing", "--no-parallel", "--filter", "VAAPITests.UDMABufferTests/simulated"],
            environment: FakeUDMABuffer.environment(.works))
        #expect(run.status == 0 && run.errors.contains("3 tests"), "\(run.errors.suffix(2000))")
    }

    private static var isSimulated: Bool { Environment.value("FAKE_UDMABUF") != nil }

    private func draw(_ surface: Surface, _ value: Int) throws {
        try unsafe surface.withUnsafePlanes(.write) { planes in
            for plane in 0..<2 {
                let bytes = unsafe planes.format.rowBytes(plane: plane, width: surface.size.width)
                for row in 0..<(surface.size.height >> plane) {
                    for column in 0..<bytes {
                        unsafe planes.base(plane).storeBytes(
                            of: UInt8(truncatingIfNeeded: value + plane * 90 + row * 7 + column), toByteOffset: row * planes.pitch(plane) + column,
                            as: UInt8.self)
                    }
                }
            }
        }
    }

    /// Returns the samples of the first plane.
    private func luma(_ surface: Surface) throws -> [UInt8] {
        try unsafe surface.withUnsafePlanes(.read) { planes in
            let bytes = unsafe planes.format.rowBytes(plane: 0, width: surface.size.width)
            return unsafe (0..<surface.size.height).flatMap { row in
                unsafe UnsafeRawBufferPointer(start: planes.base(0) + row * planes.pitch(0), count: bytes)
            }
        }
    }

    @Test(.enabled(if: isSimulated)) func simulatedSurfacesHaveTheProgramsMemory() throws {
        let display = try ReferenceDisplay.open()
        for format in [PixelFormat.nv12, .p010] {
            let picture = try UDMABufferPicture(format, Self.size, UDMABufferDevice())
            #expect(picture.shared.planes.allSatisfy { $0.pitch.isMultiple(of: 256) && $0.offset.isMultiple(of: 4096) })
            #expect(picture.shared.objects.allSatisfy { $0.byteCount.isMultiple(of: 4096) && $0.modifier == SharedPicture.linear })
            let drawn = try Surface.make(display, in: picture.shared, direct: picture)
            #expect(drawn.directMemory == .udmabuf && drawn.isInProgramsMemory && !drawn.isInUserMemory)
            // The driver's view of the same memory.
            let seen = try Surface.make(display, in: picture.shared)
            #expect(seen.directMemory == nil)
            for value in [0, 50] {
                try draw(drawn, value)
                let (own, driver) = (try luma(drawn), try luma(seen))
                #expect(own == driver && own[1] == UInt8(value + 1))
            }
        }
    }

    @Test(.enabled(if: isSimulated)) func simulatedBuffersAreClosed() throws {
        for _ in 0..<3 {
            let display = try ReferenceDisplay.open()
            var surfaces = try Surface.makeInUDMABuffers(display, count: 3, size: Self.size, format: .nv12)
            // Each surface has a DMA-BUF, of which the driver has a copy.
            #expect(openPictures >= 3 && openPictures <= 6)
            for surface in surfaces { try draw(surface, 1) }
            surfaces = []
            // Surfaces are released on another thread.
            Polling.wait { openPictures == 0 }
            #expect(openPictures == 0)
        }
    }

    @Test(.enabled(if: isSimulated)) func simulatedRefusalsAreClosed() throws {
        for fault in ["vaCreateSurfaces@1=status:14", "vaCreateSurfaces@3=status:14"] {
            let display = try ReferenceDisplay.open(faults: ["VAENC_FAULT": fault])
            #expect(throws: VAError.self) { try Surface.makeInUDMABuffers(display, count: 3, size: Self.size, format: .nv12) }
            Polling.wait { openPictures == 0 }
            #expect(openPictures == 0)
        }
        let display = try ReferenceDisplay.open()
        Environment.with(["FAKE_UDMABUF": "refuses"]) {
            let refused = error { _ = try Surface.makeInUDMABuffers(display, count: 1, size: Self.size, format: .nv12) }
            #expect(refused?.remedy?.contains("size_limit_mb") == true)
            #expect(openPictures == 0)
        }
        // The kernel's usual limit is 64 MiB: a picture of 8192×4320 with 10 bits is larger.
        let large = VideoSize(width: 8192, height: 4320)
        let refused = error { _ = try Surface.makeInUDMABuffers(display, count: 1, size: large, format: .p010) }
        #expect(refused?.message.contains("Invalid argument") == true)
        #expect(openPictures == 0)
    }
}
