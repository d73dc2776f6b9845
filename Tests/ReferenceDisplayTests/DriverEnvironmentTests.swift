import Glibc
import ReferenceDisplay
import TestOracles
import Testing
import VAAPI
import VideoBase

/// Opens displays under users' environments. The environment belongs to the whole process, so each case runs in another
/// process, a copy of this program that runs only a test of `InnerEnvironmentTests`.
@Suite struct DriverEnvironmentTests {
    private func child(_ test: String, _ variables: String) throws -> Int {
        let path = try #require(
            unsafe realpath("/proc/self/exe", nil).map { path in
                defer { unsafe free(path) }
                return unsafe String(cString: path)
            })
        // The child has the variables with which this process was started, because other tests set some temporarily.
        return try ProcessRunner.run(
            "sh",
            [
                "-c",
                "\(variables) VAENC_TEST_CHILD=\(test) '\(path)' --testing-library swift-testing "
                    + "--filter 'ReferenceDisplayTests.InnerEnvironmentTests/\(test)'",
            ]
        ).status
    }

    @Test func userVariablesAreIgnoredAndKept() throws {
        #expect(try child("displayOpensAndKeepsTheEnvironment", "LIBVA_DRIVER_NAME=iHD LIBVA_DRIVERS_PATH=/nowhere:/else") == 0)
        #expect(try child("displayOpensAndKeepsTheEnvironment", "env -u LIBVA_DRIVER_NAME -u LIBVA_DRIVERS_PATH") == 0)
    }

    @Test func missingDriverIsReported() throws {
        #expect(try child("missingDriverHasARemedy", "VAENC_DRIVER_DIR=/nowhere") == 0)
    }

    @Test func brokenDriverIsAnErrorWithoutCrash() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write(Array("text".utf8), to: folder + "/libvaenc_drv_video.so")
            #expect(try child("unloadableDriverIsAnError", "VAENC_DRIVER_DIR='\(folder)'") == 0)
        }
    }
}

/// Tests that run in processes started by `DriverEnvironmentTests`.
@Suite struct InnerEnvironmentTests {
    private static func isChild(_ test: String) -> Bool { Environment.value("VAENC_TEST_CHILD") == test }

    @Test(.enabled(if: isChild("displayOpensAndKeepsTheEnvironment"))) func displayOpensAndKeepsTheEnvironment() throws {
        let names = ["LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH"]
        let before = names.map(Environment.value)
        for _ in 0..<3 {
            let display = try ReferenceDisplay.open()
            #expect(display.vendor.lowercased().contains("vaenc"))
            #expect(names.map(Environment.value) == before)
        }
    }

    @Test(.enabled(if: isChild("missingDriverHasARemedy"))) func missingDriverHasARemedy() {
        #expect(!ReferenceDisplay.isInstalled)
        let error = #expect(throws: VaencError.self) { try ReferenceDisplay.open() }
        #expect(error?.category == .unavailable)
        #expect(error?.remedy?.contains("make install") == true)
    }

    @Test(.enabled(if: isChild("unloadableDriverIsAnError"))) func unloadableDriverIsAnError() {
        for _ in 0..<3 {
            let error = #expect(throws: VaencError.self) { try ReferenceDisplay.open() }
            #expect(error?.category == .unavailable)
            #expect(error?.message.contains("libvaenc_drv_video.so is incomplete or damaged") == true)
            #expect(error?.remedy?.contains("install") == true)
        }
    }
}
