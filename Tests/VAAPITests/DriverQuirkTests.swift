import Testing
import VAAPI

/// The table of workarounds, by the vendor strings of real drivers.
@Suite struct DriverQuirkTests {
    private static let iHD = "Intel iHD driver for Intel(R) Gen Graphics - 25.2.3 ()"
    private static let i965 = "Intel i965 driver for Intel(R) Skylake - 2.4.1"
    private static let mesa22 = "Mesa Gallium driver 22.3.6 for AMD Radeon RX 6800 (navi21, LLVM 15.0.6, DRM 3.49)"
    private static let mesa25 = "Mesa Gallium driver 25.0.7-2 for AMD Radeon RX 6800 (radeonsi, navi21, LLVM 19.1.7, DRM 3.61)"

    private static func quirks(_ vendor: String) -> [DriverQuirk] { DriverQuirk.all.filter { $0.affects(vendor) } }

    @Test func eachQuirkAffectsOneDriver() {
        for quirk in DriverQuirk.all {
            #expect(quirk.affects(Self.iHD) == (quirk.driver == .iHD), "\(quirk.symptom)")
            #expect(quirk.affects(Self.i965) == (quirk.driver == .i965), "\(quirk.symptom)")
            #expect(quirk.affects(Self.mesa22) == (quirk.driver == .radeonsi), "\(quirk.symptom)")
            #expect(!quirk.symptom.isEmpty && !quirk.versions.isEmpty && !quirk.source.isEmpty)
        }
        #expect(Set(DriverQuirk.all).count == DriverQuirk.all.count)
    }

    @Test func quirksEndWithTheVersionThatMendsThem() {
        let ended = Set(Self.quirks(Self.mesa22)).subtracting(Self.quirks(Self.mesa25))
        #expect(ended == [.derivesPartOfSurfaces, .oneResultForEachSurface])
        // A version that cannot be read has none of them.
        #expect(!DriverQuirk.derivesPartOfSurfaces.affects("Mesa Gallium driver main for AMD"))
    }

    @Test func otherDriversHaveNone() {
        for vendor in ["", "vaenc reference driver (software encoder and decoder of H.264 and HEVC)"] {
            #expect(Self.quirks(vendor).isEmpty, "\(vendor)")
        }
    }
}
