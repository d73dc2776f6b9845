import Glibc
import ReferenceDisplay
import TestOracles
import Testing
import VAAPI
import VideoBase

/// Opening under environments that users have. The environment belongs to the whole process: each case runs in one of
/// its own, a copy of this program with `InnerEnvironmentTests` alone.
@Suite struct EnvironmentTests {
    private func child(_ test: String, _ variables: String) throws -> Int {
        let path = try #require(
            unsafe realpath("/proc/self/exe", nil).map { path in
                defer { unsafe free(path) }
                return unsafe String(cString: path)
            })
        // With the variables that this process was started with: other tests set some for a moment.
        return try ProcessRunner.run(
            "sh",
            [
                "-c",
                "\(variables) VAENC_TEST_CHILD=\(test) '\(path)' --testing-library swift-testing "
                    + "--filter 'ReferenceDisplayTests.InnerEnvironmentTests/\(test)'",
            ]
        ).status
    }

    @Test func aUsersVariablesNeitherHinderNorChange() throws {
        #expect(try child("opensAsItWas", "LIBVA_DRIVER_NAME=iHD LIBVA_DRIVERS_PATH=/nowhere:/else") == 0)
        #expect(try child("opensAsItWas", "env -u LIBVA_DRIVER_NAME -u LIBVA_DRIVERS_PATH") == 0)
    }

    @Test func anAbsentDriverIsNamed() throws {
        #expect(try child("saysItIsNotInstalled", "VAENC_DRIVER_DIR=/nowhere") == 0)
    }

    @Test func aBrokenDriverIsAnErrorAndNoCrash() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write(Array("text".utf8), to: folder + "/libvaenc_drv_video.so")
            #expect(try child("saysItDoesNotLoad", "VAENC_DRIVER_DIR='\(folder)'") == 0)
        }
    }
}

/// Runs in processes that `EnvironmentTests` starts.
@Suite struct InnerEnvironmentTests {
    private static func isChild(_ test: String) -> Bool { Environment.value("VAENC_TEST_CHILD") == test }

    @Test(.enabled(if: isChild("opensAsItWas"))) func opensAsItWas() throws {
        let names = ["LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH"]
        let before = names.map(Environment.value)
        for _ in 0..<3 {
            let display = try ReferenceDisplay.open()
            #expect(display.vendor.lowercased().contains("vaenc"))
            #expect(names.map(Environment.value) == before)
        }
    }

    @Test(.enabled(if: isChild("saysItIsNotInstalled"))) func saysItIsNotInstalled() {
        #expect(!ReferenceDisplay.isInstalled)
        let error = #expect(throws: VaencError.self) { try ReferenceDisplay.open() }
        #expect(error?.category == .unavailable)
        #expect(error?.remedy?.contains("make install") == true)
    }

    @Test(.enabled(if: isChild("saysItDoesNotLoad"))) func saysItDoesNotLoad() {
        for _ in 0..<3 {
            let error = #expect(throws: VaencError.self) { try ReferenceDisplay.open() }
            #expect(error?.category == .unavailable)
            #expect(error?.message.contains("libvaenc_drv_video.so is no whole library") == true)
            #expect(error?.remedy?.contains("install") == true)
        }
    }
}
