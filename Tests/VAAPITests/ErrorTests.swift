import Testing
import VideoBase

@testable import VAAPI

@Suite struct ErrorTests {
    @Test func errorDescriptionIsOneLine() {
        let error = VAError(
            call: "vaCreateContext", status: .resolutionNotSupported, object: "8192×4320 H.264 context",
            remedy: "this driver encodes H.264 up to 4096×4096")
        #expect(
            error.description
                == "vaCreateContext failed (resolution not supported) for 8192×4320 H.264 context: "
                + "this driver encodes H.264 up to 4096×4096")
        #expect(error.category == .unavailable)
        let later = VAError(
            call: "vaSyncBuffer", status: .timedOut, object: "", driverMessage: "GPU hang"
        ).at(frame: 37)
        #expect(later.description == "vaSyncBuffer failed (timed out), frame 37 [GPU hang]")
        #expect(later.category == .deviceFailed)
    }

    @Test func messageLogKeepsTheLatestLines() {
        let log = MessageLog()
        #expect(log.take() == nil)
        for number in 1...6 { log.add("line \(number)\n") }
        log.add("\n")
        #expect(log.take() == "line 3; line 4; line 5; line 6")
        #expect(log.take() == nil)
    }
}
