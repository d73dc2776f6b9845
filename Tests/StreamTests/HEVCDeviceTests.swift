import TestOracles
import Testing
import VideoBase

/// Tests HEVC on every personality that encodes it: its smallest sizes, sizes that its hardware rounds up, and HDR10.
@Suite struct HEVCDeviceTests {
    /// The error names a remedy.
    @Test func personalitiesWithoutHEVCRefuse() throws {
        let count = DeviceClass.hevc.reduce(0) { $0 + $1.personalities.count }
        #expect(count + DeviceClass.withoutHEVC.count == Personality.all.count)
        #expect(DeviceClass.hevc.count > 10 && DeviceClass.withoutHEVC.count > 5)
        for personality in DeviceClass.withoutHEVC {
            let error = #expect(throws: VaencError.self) {
                try SessionRun.checkStrict(
                    SessionRun.Request(
                        personality: personality, configuration: HEVCSessions.plain(FeatureMatrix.size), source: []))
            }
            #expect(error?.category == .unavailable && error?.remedy != nil, "\(personality)")
        }
    }

    /// Encodes sizes from the device's smallest up to 54 samples more: all of these steps of two occur, eight on each
    /// device. Each QP from 10 to 45 occurs as well.
    @Test func sizesNearTheSmallestConform() async throws {
        let clip = try FeatureMatrix.source(FeatureMatrix.size).map { $0.tiled(width: 310, height: 182) }
        let faults = await withTaskGroup(of: [String].self) { group in
            for (number, device) in DeviceClass.hevc.enumerated() {
                for step in 0..<8 {
                    group.addTask { await onThread { Self.judge(device, number, step, clip) } }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for fault in faults { Issue.record("\(fault)") }
    }

    private static func judge(_ device: DeviceClass, _ number: Int, _ step: Int, _ clip: [PlanarFrame]) -> [String] {
        let index = number * 8 + step
        let least = device.minSize
        // The first size is the smallest itself; the others add multiples of two.
        let (right, below) = step == 0 ? (0, 0) : (2 * (index * 11 % 28), 2 * (index * 17 % 28))
        let size = VideoSize(width: least.width + right, height: least.height + below)
        let bitDepth = step % 3 == 1 && device.has(bitDepth: 10) ? 10 : 8
        var configuration = HEVCSessions.plain(size, bitDepth: bitDepth)
        configuration.rate.qp = 10 + index * 7 % 36
        configuration.coding.preset = 1 + index % 7
        configuration.structure.gopFrames = [250, 3, 1][index % 3]
        configuration.structure.bFrames = [0, 1, 2][step % 3]
        configuration.coding.slices = [1, 2, 1, 3][step % 4]
        let source = HEVCSessions.deepened(
            clip[..<5].map { $0.cropped(x: 0, y: 0, width: size.width, height: size.height) }, to: bitDepth)
        let floor = 28 - 0.9 * Double(max((configuration.rate.qp ?? 0) - 30, 0))
        return HEVCSessions.judge(configuration, source, on: device.personality) { run in
            let low = run.encoded.lowestPSNR(against: source)
            return low < floor ? ["\(low) dB"] : []
        }.map { "\(device): \(size), \(bitDepth) bits, QP \(configuration.rate.qp ?? 0): \($0)" }
    }

    /// The hardware rounds these sizes up; the streams have the requested size and correct edges.
    @Test(arguments: [(1920, 1080), (1366, 768), (854, 480), (426, 240)])
    func roundedSizesConform(_ width: Int, _ height: Int) async throws {
        // If the size is larger than the clip, pictures repeat to the right and below.
        let frames = try Fixture.bigBuckBunny.frames(12).suffix(2).map { $0.tiled(width: width, height: height) }
        let deep = HEVCSessions.deepened(frames, to: 10)
        let faults = await withTaskGroup(of: [String].self) { group in
            for (number, device) in DeviceClass.hevc.enumerated() {
                group.addTask {
                    await onThread {
                        let bitDepth = (number + width / 2) % 2 == 0 && device.has(bitDepth: 10) ? 10 : 8
                        let source = bitDepth > 8 ? deep : frames
                        var configuration = HEVCSessions.plain(
                            VideoSize(width: width, height: height), bitDepth: bitDepth)
                        configuration.coding.preset = 7
                        return HEVCSessions.judge(configuration, source, on: device.personality) { run in
                            Self.edges(run, source)
                        }.map { "\(device), \(bitDepth) bits: \($0)" }
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for fault in faults { Issue.record("\(width)×\(height) on \(fault)") }
    }

    /// Checks that the last columns and rows, which would show the padding, are as close to the source as the rest.
    private static func edges(_ run: SessionRun, _ source: [PlanarFrame]) -> [String] {
        let (width, height) = (source[0].width, source[0].height)
        var faults: [String] = []
        for (name, x, y) in [("all", 0, 0), ("the right edge", width - 8, 0), ("the lower edge", 0, height - 8)] {
            func part(_ frame: PlanarFrame) -> PlanarFrame {
                frame.cropped(x: x, y: y, width: width - x, height: height - y)
            }
            let pairs = zip(run.encoded.reconstruction.framesInOutputOrder, source)
            let low = pairs.map { PSNR.luma(part($0), part($1)) }.min() ?? 0
            if low < 30 { faults.append("\(name): \(low) dB") }
        }
        return faults
    }

    @Test func hdr10MetadataIsInTheStream() throws {
        var configuration = HEVCSessions.plain(FeatureMatrix.size, bitDepth: 10)
        configuration.display.color = ColorDescription(primaries: 9, transfer: 16, matrix: 9)
        let display = MasteringDisplay("G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
        configuration.display.masteringDisplay = display
        configuration.display.contentLight = ContentLight("1000,400")
        let run = try SessionRun(
            SessionRun.Request(
                configuration: configuration,
                source: HEVCSessions.deepened(try FeatureMatrix.source(configuration.size), to: 10)))
        #expect(run.faults() + run.contradictions(configuration) == [])
        let expected = [
            "colour_primaries": 9, "transfer_characteristics": 16, "matrix_coefficients": 9,
            // The order is green, blue, red (D.3.28).
            "display_primaries_x[0]": 13250, "display_primaries_y[0]": 34500, "display_primaries_x[1]": 7500,
            "display_primaries_y[1]": 3000, "display_primaries_x[2]": 34000, "display_primaries_y[2]": 16000,
            "white_point_x": 15635, "white_point_y": 16450, "max_display_mastering_luminance": 10_000_000,
            "min_display_mastering_luminance": 50, "max_content_light_level": 1000, "max_pic_average_light_level": 400,
            "bit_depth_luma_minus8": 2, "general_profile_idc": 2,
        ]
        for (name, value) in expected { #expect(Set(run.trace[name]) == [value], "\(name)") }
    }
}

extension PlanarFrame {
    /// Returns the frame at another size: repeated to the right and below, or cropped.
    fileprivate func tiled(width: Int, height: Int) -> PlanarFrame {
        var result: [UInt8] = []
        result.reserveCapacity(PlanarFrame.byteCount(width: width, height: height))
        var base = 0
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            let (columns, rows) = (self.width >> shift, self.height >> shift)
            for y in 0..<(height >> shift) {
                let row = base + y % rows * columns
                var left = width >> shift
                while left > 0 {
                    result += bytes[row..<row + min(left, columns)]
                    left -= columns
                }
            }
            base += columns * rows
        }
        return PlanarFrame(width: width, height: height, bytes: result) ?? self
    }
}
