import CVA
import Testing
import VideoBase

@testable import VAAPI

/// Compares our names with libva's own strings.
@Suite struct NamesTests {
    private func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    @Test func everyLibvaStatusHasANameAndDescription() {
        let missing = unsafe text(vaErrorStr(0x7777))
        var texts = Set<String>()
        for value in (0...0xff).map(Int32.init) + [-1] {
            let status = VAStatusCode(rawValue: value)
            let known = unsafe text(vaErrorStr(value)) != missing
            if known { #expect(status.name != nil, "libva knows \(value)") }
            if let name = status.name {
                #expect(name.hasPrefix("VA_STATUS_"))
                #expect(texts.insert(status.description).inserted, "\(status) is used twice")
            } else {
                #expect(status.description == "status \(value)")
            }
        }
        #expect(VAStatusCode.named.count == texts.count)
        #expect(VAStatusCode(rawValue: Int32(VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)) == .resolutionNotSupported)
        #expect(VAStatusCode(rawValue: Int32(VA_STATUS_ERROR_ENCODING_ERROR)) == .encodingError)
        #expect(VAStatusCode(rawValue: Int32(VA_STATUS_ERROR_TIMEDOUT)) == .timedOut)
        #expect(VAStatusCode(rawValue: Int32(bitPattern: UInt32(VA_STATUS_ERROR_UNKNOWN))) == .unknown)
    }

    @Test func statusesHaveTheirErrorCategory() {
        #expect(VAStatusCode.resolutionNotSupported.category == .unavailable)
        #expect(VAStatusCode.unsupportedProfile.category == .unavailable)
        #expect(VAStatusCode.encodingError.category == .deviceFailed)
        #expect(VAStatusCode.timedOut.category == .deviceFailed)
        #expect(VAStatusCode.unknown.category == .deviceFailed)
        #expect(VAStatusCode.invalidBuffer.category == .internalFault)
        #expect(VAStatusCode.invalidParameter.category == .internalFault)
    }

    @Test func attributesHaveLibvasNames() {
        for number in 0..<VAConfigAttribTypeMax.rawValue {
            let theirs = unsafe text(vaConfigAttribTypeStr(VAConfigAttribType(number)))
            let ours = AttributeType(rawValue: number).name
            if theirs.hasPrefix("VAConfigAttrib") {
                #expect(ours == theirs)
            } else {
                #expect(ours == "VAConfigAttrib(\(number))", "libva: \(theirs)")
            }
        }
        #expect(AttributeType(rawValue: 63).name == "VAConfigAttrib(63)")
    }

    @Test func profilesHaveLibvasNames() {
        for number in Int32(-1)...35 {
            let theirs = unsafe text(vaProfileStr(VAProfile(number)))
            guard theirs.hasPrefix("VAProfile") else { continue }
            #expect(Profile(rawValue: number).name == theirs)
        }
        for profile in CodecProfile.allCases { #expect(Profile(profile).codecProfile == profile) }
        #expect(Profile(rawValue: 99).name == "VAProfile(99)")
    }

    @Test func entryPointsHaveLibvasNames() {
        for number in Int32(1)...14 {
            let theirs = unsafe text(vaEntrypointStr(VAEntrypoint(UInt32(number))))
            guard theirs.hasPrefix("VAEntrypoint") else { continue }
            #expect(EntryPoint(rawValue: number).name == theirs)
        }
    }

    @Test func fourCharacterCodesMatchLibva() {
        let theirs: [(PixelFormat, Int32)] = [
            (.nv12, VA_FOURCC_NV12), (.p010, VA_FOURCC_P010), (.i420, VA_FOURCC_I420), (.yv12, VA_FOURCC_YV12),
            (.yuyv, VA_FOURCC_YUY2), (.uyvy, VA_FOURCC_UYVY), (.bgra, VA_FOURCC_BGRA), (.rgba, VA_FOURCC_RGBA),
            (.gray, VA_FOURCC_Y800), (.i422, VA_FOURCC_422H), (.i444, VA_FOURCC_444P),
        ]
        for (format, code) in theirs {
            #expect(FourCC(format)?.rawValue == UInt32(bitPattern: code))
            #expect(FourCC(format)?.pixelFormat == format)
        }
        #expect(FourCC(.rgb24) == nil)
        #expect(FourCC.nv12.description == "NV12")
    }
}
