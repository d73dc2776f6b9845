import ReferenceDisplay
import Testing
import VideoBase

@testable import VAAPI

/// Tests the lifetime and failures of VA objects on a driver. `ObjectBalanceTests` runs this suite again under libva's
/// trace.
@Suite struct ObjectsTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func encodedPictureIsAnIDRSlice() throws {
        let encoder = try TinyEncoder(TestDevice.open())
        try encoder.fill()
        var bytes: [UInt8] = [0xaa]
        var lengths: [Int] = []
        for frame in 0..<3 {
            let submitted = try encoder.submit(frame: frame)
            try submitted.sync(timeoutNanoseconds: 600 * Self.second)
            let start = bytes.count
            let segments = try submitted.read(appendingTo: &bytes)
            #expect(segments.reduce(0) { $0 + $1.byteCount } == bytes.count - start)
            if TestDevice.isReference { #expect(segments.allSatisfy { $0.status.errors.isEmpty }) }
            lengths.append(bytes.count - start)
        }
        #expect(bytes[0] == 0xaa)
        #expect(bytes[1...4] == [0, 0, 0, 1] || bytes[1...3] == [0, 0, 1])
        // An IDR slice has a start code and nal_unit_type 5.
        let types = bytes.indices.dropLast(3).compactMap {
            bytes[$0...].starts(with: [0, 0, 1]) ? bytes[$0 + 3] & 0x1f : nil
        }
        #expect(types.count { $0 == 5 } == 3)
        #expect(lengths.allSatisfy { $0 > 8 })
    }

    @Test func syncMayBeRepeated() throws {
        let encoder = try TinyEncoder(TestDevice.open())
        try encoder.fill()
        let submitted = try encoder.submit()
        // With a timeout of 0, the picture is done already or the error is a timeout.
        do {
            try submitted.sync(timeoutNanoseconds: 0)
        } catch {
            #expect(error.status == .timedOut)
            #expect(error.category == .deviceFailed)
        }
        for _ in 0..<3 { try submitted.sync(timeoutNanoseconds: 600 * Self.second) }
        try encoder.input.sync(timeoutNanoseconds: 600 * Self.second)
        #expect(try encoder.input.status() == .ready)
    }

    @Test func objectsKeepTheirDisplayAlive() throws {
        var encoder: TinyEncoder? = try TinyEncoder(TestDevice.open())
        let output = try #require(encoder?.output)
        weak let display = encoder?.display
        encoder = nil
        #expect(display != nil)
        var bytes: [UInt8] = []
        _ = try? output.read(appendingTo: &bytes)
    }

    @Test(arguments: [(16, 16), (18, 34), (64, 48), (128, 130), (176, 144), (640, 272)])
    func surfaceKeepsItsSamples(width: Int, height: Int) throws {
        let display = try TestDevice.open()
        let size = VideoSize(width: width, height: height)
        let surface = try #require(try Surface.make(display, count: 1, size: size).first)
        let format = surface.format
        for access in [Surface.Access.write, .readWrite] {
            try unsafe surface.withUnsafePlanes(access, visible: VideoSize(width: width - 1, height: height)) { planes in
                #expect(unsafe planes.size == VideoSize(width: width - 1, height: height))
                #expect(unsafe planes.allocatedSize.width >= width && planes.allocatedSize.height >= height)
                for plane in 0..<2 {
                    for row in 0..<format.rows(plane: plane, height: height) {
                        let base = unsafe planes.base(plane) + row * planes.pitch(plane)
                        for column in 0..<format.rowBytes(plane: plane, width: width) {
                            unsafe base.storeBytes(
                                of: TinyEncoder.sample(plane, row, column), toByteOffset: column, as: UInt8.self)
                        }
                    }
                }
            }
        }
        let wrong = try unsafe surface.withUnsafePlanes(.read) { planes in
            var wrong = 0
            for plane in 0..<2 {
                for row in 0..<format.rows(plane: plane, height: height) {
                    let base = unsafe planes.base(plane) + row * planes.pitch(plane)
                    for column in 0..<format.rowBytes(plane: plane, width: width) {
                        let value = unsafe base.load(fromByteOffset: column, as: UInt8.self)
                        if value != TinyEncoder.sample(plane, row, column) { wrong += 1 }
                    }
                }
            }
            return wrong
        }
        // AMD's faked kernel copies nothing.
        if !display.vendor.contains("AMD") { #expect(wrong == 0) }
    }

    /// Mesa 22 on Navi 10 maps a copy of a 10-bit surface, so writes to it are lost. With Mesa 25 they are kept.
    @Test(arguments: ["radeonsi-navi10", "radeonsi25-navi10"])
    func samplesReachUnmappableSurfaces(personality: String) throws {
        let display = try ReferenceDisplay.open(["VAENC_REFERENCE_PERSONALITY": personality])
        let size = VideoSize(width: 256, height: 128)
        let surface = try #require(try Surface.make(display, count: 1, size: size, format: .p010).first)
        func value(_ plane: Int, _ row: Int, _ column: Int) -> UInt8 {
            // The low six bits of a sample are zero.
            column & 1 == 0 ? TinyEncoder.sample(plane, row, column) & 0xC0 : TinyEncoder.sample(plane, row, column)
        }
        try unsafe surface.withUnsafePlanes { planes in
            for plane in 0..<2 {
                for row in 0..<128 >> plane {
                    let base = unsafe planes.base(plane) + row * planes.pitch(plane)
                    for column in 0..<512 {
                        unsafe base.storeBytes(of: value(plane, row, column), toByteOffset: column, as: UInt8.self)
                    }
                }
            }
        }
        let wrong = try unsafe surface.withUnsafePlanes(.read) { planes in
            var wrong = 0
            for plane in 0..<2 {
                for row in 0..<128 >> plane {
                    let base = unsafe planes.base(plane) + row * planes.pitch(plane)
                    for column in 0..<512
                    where unsafe base.load(fromByteOffset: column, as: UInt8.self) != value(plane, row, column) {
                        wrong += 1
                    }
                }
            }
            return wrong
        }
        #expect(wrong == 0)
    }

    @Test func errorInsideAMappingIsThrown() throws {
        struct Stop: Error {}
        let surface = try #require(
            try Surface.make(TestDevice.open(), count: 1, size: VideoSize(width: 64, height: 64)).first)
        for _ in 0..<3 {
            #expect(throws: Stop.self) { try unsafe surface.withUnsafePlanes { _ in throw Stop() } }
        }
        try unsafe surface.withUnsafePlanes { _ in }
    }

    @Test func refusedProfileIsNamedInTheError() throws {
        let display = try TestDevice.open()
        let error = #expect(throws: VAError.self) {
            try Config(display, profile: Profile(rawValue: 11), entryPoint: .encodeSlice)
        }
        #expect(error?.call == "vaCreateConfig")
        #expect(error?.object == "VAProfileH263Baseline/VAEntrypointEncSlice")
        #expect(error?.category == .unavailable)
        #expect(try display.entryPoints(of: Profile(rawValue: 11)) == [])
    }

    @Test(arguments: [(0, 0), (-16, 16), (1 << 40, 16), (65536, 65536)])
    func impossibleSizesAreRefused(width: Int, height: Int) throws {
        let display = try TestDevice.open()
        let size = VideoSize(width: width, height: height)
        let config = try Config(display, profile: .h264High, entryPoint: TestDevice.entryPoint(display))
        let limits = try config.surfaceCapabilities()
        let error = #expect(throws: VAError.self) { try Context(config, size: size, limits: limits) }
        #expect(error?.call == "vaCreateContext")
        #expect(error?.category == .unavailable)
        #expect(error?.remedy?.contains("this driver encodes H.264") == true)
        if width < 0 || width > 65536 {
            #expect(throws: VAError.self) { try Surface.make(display, count: 1, size: size) }
        }
    }

    @Test func badCountsAndCapacitiesAreRefused() throws {
        let encoder = try TinyEncoder(TestDevice.open())
        #expect(try Surface.make(encoder.display, count: 0, size: encoder.context.size).isEmpty)
        #expect(throws: VAError.self) { try Surface.make(encoder.display, count: -1, size: encoder.context.size) }
        #expect(throws: VaencError.self) {
            try Surface.make(encoder.display, count: 1, size: encoder.context.size, format: .rgb24)
        }
        for capacity in [0, -1, 1 << 40] {
            let error = #expect(throws: VAError.self) { try CodedBuffer(encoder.context, capacity: capacity) }
            #expect(error?.call == "vaCreateBuffer")
        }
    }

    /// Real drivers crash on some of these pictures, so only the reference driver is tested.
    @Test(.enabled(if: TestDevice.isReference)) func refusedPictureLeavesTheContextUsable() throws {
        let encoder = try TinyEncoder(TestDevice.open())
        try encoder.fill()
        func rejection(_ change: (inout H264PictureParameters) -> Void) throws -> VAError? {
            var parameters = encoder.picture()
            change(&parameters)
            return #expect(throws: VAError.self) {
                var picture = Picture(begin: encoder.context, on: encoder.input, frame: 7)
                try picture.render(encoder.sequence())
                try picture.render(parameters)
                try picture.render(encoder.slice())
                _ = try picture.end(into: encoder.output)
            }
        }
        let unknown = try rejection { $0.coded_buf = 0x7777 }
        #expect(unknown?.frame == 7)
        #expect(unknown?.message.contains("frame 7") == true)
        #expect(["vaRenderPicture", "vaEndPicture"].contains(unknown?.call))
        let empty = #expect(throws: VAError.self) {
            _ = try Picture(begin: encoder.context, on: encoder.input).end(into: encoder.output)
        }
        #expect(empty != nil)
        // A picture that is dropped before its end was never begun in the driver.
        do {
            var picture = Picture(begin: encoder.context, on: encoder.input)
            try picture.render(encoder.sequence())
        }
        let submitted = try encoder.submit()
        try submitted.sync(timeoutNanoseconds: 600 * Self.second)
        var bytes: [UInt8] = []
        _ = try submitted.read(appendingTo: &bytes)
        #expect(!bytes.isEmpty)
    }

    @Test func concurrentDisplaysEncode() throws {
        let threads = try (0..<4).map { _ in try DeviceThread("test") }
        let display = try TestDevice.open()
        for (index, thread) in threads.enumerated() {
            thread.async {
                do {
                    let encoder = try TinyEncoder(index == 0 ? TestDevice.open() : display)
                    try encoder.fill()
                    for _ in 0..<5 {
                        let submitted = try encoder.submit()
                        try submitted.sync(timeoutNanoseconds: 600 * Self.second)
                        var bytes: [UInt8] = []
                        _ = try submitted.read(appendingTo: &bytes)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        for thread in threads { thread.sync {} }
    }

    @Test func reportMatchesTheDisplay() throws {
        let display = try TestDevice.open()
        let report = DeviceReport(display)
        #expect(report.usable && report.why == nil)
        #expect(report.driver == display.vendor && report.libva == display.version && report.kind == display.kind)
        let pairs = try display.profiles().flatMap { profile in
            try display.entryPoints(of: profile).map { "\(profile.shortName)/\($0.shortName)" }
        }
        #expect(report.capabilities.map { "\($0.profile.shortName)/\($0.entryPoint.shortName)" } == pairs)
        let high = try #require(report.capabilities.first { $0.codec == .h264 && $0.profile == .h264High && $0.encodes })
        #expect(high.bitDepths == [8] && high.rateControl.contains(.cqp))
        #expect(high.attributeValues.contains { $0.name == "VAConfigAttribRateControl" && $0.meaning.contains("VA_RC_CQP") })
        #expect((high.maxWidth ?? 0) >= 1920 && high.memoryTypes.contains(.va))
        #expect(display.encodes(.h264, profile: .h264High) && !display.encodes(.hevc, profile: .h264High))
        #expect(report.isHardwareEncodeSupported(.h264, profile: .h264High) == (display.kind == .vaapi))
        #expect(!report.isHardwareEncodeSupported(.h264, entryPoint: .decode))
        #expect(display.decodes(.h264) == report.capabilities.contains { $0.codec == .h264 && $0.decodes })
        let failed = DeviceReport.ofRenderNode("/dev/dri/renderD999")
        #expect(!failed.usable && failed.why?.description.contains("renderD999") == true && failed.capabilities.isEmpty)
    }
}
