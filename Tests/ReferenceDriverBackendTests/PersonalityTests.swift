import CVA
import Glibc
import Testing

@testable import ReferenceDriver

/// Compares personalities' answers with the real drivers' dumps, copied by hand.
@Suite struct PersonalityTests {
    private func client(_ name: String, offersHEVC: Bool = true) -> Client {
        var environment = Environment(isStrict: true)
        environment.offersHEVC = offersHEVC
        environment.personality = name
        return Client(environment)
    }

    private func value(
        _ client: Client, _ type: VAConfigAttribType, _ profile: VAProfile = VAProfileH264High,
        _ entrypoint: VAEntrypoint = VAEntrypointEncSlice
    ) -> UInt32 {
        var list = [VAConfigAttrib(type: type, value: 0)]
        let status = client.table.vaGetConfigAttributes(client.context, profile, entrypoint, &list, 1)
        return status == VA_STATUS_SUCCESS ? list[0].value : .max
    }

    @Test func everyPersonalityOpensAndAnswers() {
        #expect(Personality.names.count == 37)
        for name in Personality.names {
            let client = client(name, offersHEVC: false)
            let vendor = String(cString: client.context.pointee.str_vendor)
            #expect(vendor.contains("vaenc") && vendor.contains(name.hasPrefix("i") ? "Intel" : "Mesa"))
            var count: Int32 = 0
            var profiles = [VAProfile](repeating: VAProfileNone, count: 8)
            #expect(client.table.vaQueryConfigProfiles(client.context, &profiles, &count) == VA_STATUS_SUCCESS)
            #expect(profiles.prefix(Int(count)).count { $0 != VAProfileNone } == 3, "\(name)")
        }
    }

    @Test func hevcIsOfferedWhereRealDriversDo() {
        let hevc = Personality.names.filter { name in
            !client(name).createConfigFails(VAProfileHEVCMain)
        }
        // Broadwell, Skylake's and Coffee Lake's free drivers, and i965 offer no HEVC.
        #expect(hevc.count == 30 && hevc.allSatisfy { !$0.hasPrefix("i965") })
        #expect(client("radeonsi25-navi31", offersHEVC: false).createConfigFails(VAProfileHEVCMain), "where it is hidden")
        #expect(client("radeonsi-raven").createConfigFails(VAProfileHEVCMain10))
        let low = client("iHD-9A49")
        #expect(value(low, VAConfigAttribEncHEVCFeatures, VAProfileHEVCMain10, VAEntrypointEncSliceLP) == 0x190_0464)
        #expect(value(low, VAConfigAttribPredictionDirection, VAProfileHEVCMain, VAEntrypointEncSliceLP) == 7)
        #expect(value(low, VAConfigAttribEncMaxSlices, VAProfileHEVCMain, VAEntrypointEncSliceLP) == 70)
        let config = low.createConfig(VAProfileHEVCMain, VAEntrypointEncSliceLP).1
        #expect(low.createContext(config, 126, 128).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(low.createContext(config, 128, 128).0 == VA_STATUS_SUCCESS)
        let ice = client("iHD25nonfree-8A52")
        #expect(value(ice, VAConfigAttribPredictionDirection, VAProfileHEVCMain) == VA_ATTRIB_NOT_SUPPORTED)
        #expect(value(ice, VAConfigAttribEncHEVCBlockSizes, VAProfileHEVCMain) == 0x88c6)
        let old = client("radeonsi-navi21")
        #expect(value(old, VAConfigAttribEncHEVCFeatures, VAProfileHEVCMain) == 0x1004_1050)
        #expect(value(old, VAConfigAttribEncPackedHeaders, VAProfileHEVCMain) == 1)
        for (name, alignment) in [("radeonsi25-navi31", 70 as Int32?), ("radeonsi-navi21", nil)] {
            let amd = client(name)
            let config = amd.createConfig(VAProfileHEVCMain, VAEntrypointEncSlice).1
            var count: UInt32 = 32
            var list = [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: 32)
            #expect(
                amd.table.vaQuerySurfaceAttributes(amd.context, config, &list, &count) == VA_STATUS_SUCCESS)
            #expect(list.prefix(Int(count)).first { $0.type.rawValue == 10 }?.value.value.i == alignment)
        }
    }

    @Test func unknownPersonalityFailsWithAMessage() {
        let context = VADriverContextP.allocate(capacity: 1)
        context.initialize(to: VADriverContext())
        context.pointee.vtable = .allocate(capacity: 1)
        context.pointee.vtable.initialize(to: VADriverVTable())
        defer {
            context.pointee.vtable.deallocate()
            context.deallocate()
        }
        // A C function has no context, so it stores the message in the field of the driver's data.
        context.pointee.error_callback = { context, message in
            guard let context, let message else { return }
            context.pointee.pDriverData = UnsafeMutableRawPointer(strdup(message))
        }
        var environment = Environment(isStrict: true)
        environment.personality = "voodoo-2"
        #expect(openDriver(context, environment) != VA_STATUS_SUCCESS)
        let heard = context.pointee.pDriverData.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
        free(context.pointee.pDriverData)
        #expect(heard?.contains("voodoo-2") == true && heard?.contains("radeonsi25-navi31") == true)
    }

    @Test func answersMatchTheDumps() {
        let navi21 = client("radeonsi-navi21")
        #expect(value(navi21, VAConfigAttribRateControl) == UInt32(VA_RC_CBR | VA_RC_VBR | VA_RC_CQP))
        #expect(value(navi21, VAConfigAttribEncPackedHeaders) == 0)
        #expect(value(navi21, VAConfigAttribEncMaxRefFrames) == 1)
        #expect(value(navi21, VAConfigAttribEncQualityRange) == 32)
        #expect(value(navi21, VAConfigAttribEncROI) == VA_ATTRIB_NOT_SUPPORTED)
        #expect(value(navi21, VAConfigAttribEncRateControlExt) == 0x103)

        let navi31 = client("radeonsi25-navi31")
        #expect(value(navi31, VAConfigAttribRateControl) == 0x416)
        #expect(value(navi31, VAConfigAttribEncMaxRefFrames) == 0x10001)
        #expect(value(navi31, VAConfigAttribEncMaxSlices) == 128)
        #expect(value(navi31, VAConfigAttribEncROI) == 0x220)
        #expect(value(navi31, VAConfigAttribMaxPictureHeight) == 2304)

        let tigerLake = client("iHDnonfree-9A49")
        #expect(value(tigerLake, VAConfigAttribEncMaxRefFrames) == 0x20008)
        #expect(value(tigerLake, VAConfigAttribEncMaxRefFrames, VAProfileH264Main, VAEntrypointEncSliceLP) == 3)
        #expect(value(tigerLake, VAConfigAttribRateControl) & UInt32(VA_RC_ICQ | VA_RC_AVBR) != 0)
        #expect(value(tigerLake, VAConfigAttribEncIntraRefresh) == 3)

        let kabyLake = client("i965-5916")
        #expect(value(kabyLake, VAConfigAttribEncMaxRefFrames) == 0x10004)
        #expect(value(kabyLake, VAConfigAttribEncROI, VAProfileH264High, VAEntrypointEncSliceLP) == 3)
        #expect(value(client("iHD-9A49"), VAConfigAttribRTFormat) == .max, "no EncSlice without the non-free build")
        #expect(value(client("iHD25nonfree-7D55"), VAConfigAttribRateControl) == 0x14d6)
    }

    @Test func personalityLimitsHold() {
        let low = client("iHD-9A49")
        let config = low.createConfig(VAProfileH264High, VAEntrypointEncSliceLP)
        #expect(config.0 == VA_STATUS_SUCCESS)
        #expect(low.createContext(config.1, 16, 64).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(
            low.createConfig(
                VAProfileH264High, VAEntrypointEncSliceLP, [(VAConfigAttribRateControl, UInt32(VA_RC_ICQ))]
            ).0
                == VA_STATUS_ERROR_INVALID_VALUE)
        let amd = client("radeonsi-navi21")
        let plain = amd.createConfig(VAProfileH264High, VAEntrypointEncSlice)
        #expect(amd.createContext(plain.1, 176, 144).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
    }

    @Test func mesa22IgnoresPackedHeaders() throws {
        let stream = StreamClient(client("radeonsi-navi21"), width: 256, height: 128)
        var buffers = stream.buffers(slices: 2)
        buffers.packed = [(1, 40, [0, 0, 0, 1, 0x67], true)]
        let coded = try #require(stream.encode(buffers))
        #expect(coded.starts(with: [0, 0, 0, 1, 0x67, 100]), "the driver's own")
        // The rows are equal except for the last slice.
        var unequal = stream.buffers(slices: 2)
        unequal.slices[0].num_macroblocks -= 16
        unequal.slices[1].macroblock_address -= 16
        unequal.slices[1].num_macroblocks += 16
        #expect(stream.send(unequal) == VA_STATUS_ERROR_INVALID_PARAMETER)
        stream.paint()
        #expect(stream.send(stream.buffers()) == VA_STATUS_SUCCESS)
        #expect(stream.client.coded(stream.coded)?.status == 0)
    }

    @Test func mesa25NeedsPackedSliceHeaders() throws {
        let stream = StreamClient(client("radeonsi25-navi31"), width: 256, height: 128, packedHeaders: 0x1f)
        stream.paint()
        #expect(stream.send(stream.buffers()) == VA_STATUS_ERROR_INVALID_PARAMETER)
        var buffers = stream.buffers()
        // An IDR slice, frame_num and POC of 8 bits, no marking, QP and deblocking as in the buffers.
        let header: [UInt8] = [0, 0, 1, 0x65, 0b1011_1000, 0b0000_0100, 0, 0b1111_0000]
        buffers.packed = [(4, 48, [0, 0, 0, 1, 9, 0xf0], true), (3, 60, header, false)]
        #expect(stream.send(buffers) == VA_STATUS_SUCCESS)
        let coded = try #require(stream.client.coded(stream.coded))
        #expect(coded.segments == 4, "delimiter, two parameter sets, the slice")
        #expect(coded.status & 0x1000_0000 != 0)
    }
}

extension Client {
    /// Whether no entry point encodes `profile`.
    fileprivate func createConfigFails(_ profile: VAProfile) -> Bool {
        [VAEntrypointEncSlice, VAEntrypointEncSliceLP].allSatisfy {
            createConfig(profile, $0).0 != VA_STATUS_SUCCESS
        }
    }
}
