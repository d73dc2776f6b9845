import EncodePlanning
import H264Syntax
import NALUnits
import Testing
import VideoBase

@testable import EncodeSession

@Suite struct AccessUnitAssemblerTests {
    static let slice: [UInt8] = [0x41, 0x9A, 0x80, 0x11]
    static let key: [UInt8] = [0x65, 0x88, 0x80, 0x22]

    static func adapter(_ change: (inout EncoderConfiguration) -> Void = { _ in }) throws -> H264Adapter {
        let configuration = SettingsResolverTests.configuration(640, 360, change)
        let device = DeviceCapabilities(driver: "a driver", encoders: [SettingsResolverTests.limits()])
        return try #require(try SettingsResolver.resolve(configuration, on: device).adapter() as? H264Adapter)
    }

    static func headers(_ change: (inout EncoderConfiguration) -> Void = { _ in }) throws -> H264StreamHeaders {
        try adapter(change).stream.headers
    }

    private func stream(_ units: [[UInt8]], startCode: [UInt8] = [0, 0, 0, 1]) -> [UInt8] {
        units.flatMap { startCode + $0 }
    }

    static func options(_ type: PictureType) -> (FramePlan, FrameOptions) {
        let plan = FramePlan(
            type: type, codingIndex: 0, displayIndex: 0, sequenceIndex: 0, keyDisplayIndex: 0, list0: [],
            isReference: true, stored: [], slot: 0)
        return (plan, FrameOptions())
    }

    private func leading(_ headers: H264StreamHeaders, _ type: PictureType) -> LeadingUnits {
        let (plan, options) = Self.options(type)
        return headers.leading(plan, options: options, clock: PictureClock())
    }

    /// Returns the NAL units of the assembled access unit for a driver's `bytes`.
    private func assembled(
        _ adapter: H264Adapter, _ bytes: [UInt8], _ type: PictureType, prefix: [UInt8]? = nil
    ) throws -> [[UInt8]] {
        var assembler = AccessUnitAssembler(.h264, adapter)
        var bytes = bytes
        try assembler.assemble(&bytes, leading(adapter.stream.headers, type), prefix: prefix)
        let units = AnnexB.split(bytes)
        #expect(bytes == stream(units))
        return units
    }

    private func identifier(_ headers: H264StreamHeaders) -> [UInt8] {
        SEIMessage.unit(headers.messages.identifier.map { [$0] } ?? [])
    }

    @Test func completeAccessUnitStaysUnchanged() throws {
        let adapter = try Self.adapter()
        let headers = adapter.stream.headers
        let filler: [UInt8] = [0x0C, 0xFF, 0xFF, 0x80]
        let first = [headers.spsUnit, headers.ppsUnit, identifier(headers), Self.key, Self.key, filler]
        #expect(try assembled(adapter, stream(first), .idr) == first)
        #expect(try assembled(adapter, stream([Self.slice]), .p) == [Self.slice])
    }

    @Test func missingUnitsAreAdded() throws {
        let adapter = try Self.adapter { $0.headers.accessUnitDelimiters = true }
        let headers = adapter.stream.headers
        let delimiter: [UInt8] = [0x09, 0x10]
        let whole = [delimiter, headers.spsUnit, headers.ppsUnit, identifier(headers), Self.key]
        #expect(try assembled(adapter, stream([Self.key]), .idr) == whole)
        #expect(try assembled(adapter, stream([headers.spsUnit, Self.key]), .idr) == whole)
        #expect(try assembled(adapter, stream([Self.slice]), .p) == [[0x09, 0x30], Self.slice])
        #expect(
            try assembled(adapter, stream([Self.slice, Self.slice]), .p, prefix: [0x6E, 1, 2])
                == [[0x09, 0x30], [0x6E, 1, 2], Self.slice, [0x6E, 1, 2], Self.slice])
    }

    /// Filler and SEI before the slices are the driver's own and are removed; filler after the slices is kept.
    @Test func parameterSetsOccurOnceWithFourByteStartCodes() throws {
        let adapter = try Self.adapter { $0.headers.identifier = false }
        let headers = adapter.stream.headers
        let filler: [UInt8] = [0x0C, 0xFF, 0x80]
        let twice = [
            [0x09, 0x10], headers.spsUnit, headers.spsUnit, headers.ppsUnit, headers.ppsUnit, filler,
            [0x06, 0x01, 0x01, 0x00, 0x80], Self.key, filler,
        ]
        let expected = [headers.spsUnit, headers.ppsUnit, Self.key, filler]
        #expect(try assembled(adapter, stream(twice, startCode: [0, 0, 1]), .idr) == expected)
        #expect(try assembled(adapter, stream([Self.slice]) + [0, 0, 0], .p) == [Self.slice])
        // Parameter sets before a non-key picture are redundant and removed.
        #expect(try assembled(adapter, stream([headers.spsUnit, headers.ppsUnit, Self.slice]), .p) == [Self.slice])
    }

    @Test func accessUnitWithoutSlicesIsAnError() throws {
        let adapter = try Self.adapter()
        let headers = adapter.stream.headers
        for bytes in [[], stream([headers.spsUnit]), [1, 2, 3]] {
            #expect(throws: VaencError.self) { _ = try assembled(adapter, bytes, .p) }
        }
    }

    /// The driver's sets are the parameter sets of Mesa 22.3.6 for 640×360. The fields that its slice headers depend on
    /// are kept (log2_max_frame_num 5, log2_max_pic_order_cnt_lsb 5, no 8×8 transform, QP 26); constraint flags and VUI
    /// are replaced by ours. FFmpeg's trace_headers reads the result accordingly.
    @Test func driverParameterSetsAreAdopted() throws {
        let adapter = try Self.adapter { $0.headers.identifier = false }
        let headers = adapter.stream.headers
        let theirs: [UInt8] = [
            0x67, 0x64, 0x44, 0x1E, 0xAC, 0x54, 0x80, 0xA0, 0x2F, 0xF9, 0x61, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00,
            0x03, 0x00, 0x3C, 0x0F, 0x08, 0x84, 0x6A,
        ]
        let adopted: [UInt8] = [
            0x67, 0x64, 0x0C, 0x1E, 0xAC, 0x54, 0x80, 0xA0, 0x2F, 0xF9, 0x61, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00,
            0x03, 0x00, 0x3C, 0x8F, 0x08, 0x04, 0x2A,
        ]
        let pps: [UInt8] = [0x68, 0xEE, 0x3C, 0x80]
        var assembler = AccessUnitAssembler(.h264, adapter)
        var bytes = stream([[0x09, 0x10], theirs, pps, Self.key])
        try assembler.assemble(&bytes, leading(headers, .idr))
        #expect(AnnexB.split(bytes) == [adopted, pps, Self.key])
        #expect(assembler.parameterSets == [adopted, pps])
        // A later key frame without parameter sets gets them again.
        bytes = stream([Self.key])
        try assembler.assemble(&bytes, leading(headers, .idr))
        #expect(AnnexB.split(bytes) == [adopted, pps, Self.key])
    }

    @Test func shortenedParameterSetsAreNotRead() throws {
        let whole = try Self.headers().spsUnit
        #expect(DriverSequenceParameterSet(unit: whole)?.adopting(try Self.headers().sps) == whole)
        for length in 0..<8 { #expect(DriverSequenceParameterSet(unit: Array(whole.prefix(length))) == nil) }
        #expect(DriverSequenceParameterSet(unit: try Self.headers().ppsUnit) == nil)
    }
}
