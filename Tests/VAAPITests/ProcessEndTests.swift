import Glibc
import Synchronization
import Testing

import Threads
@testable import VAAPI

/// Tests the end of a process while calls to a driver are in progress.
@Suite struct ProcessEndTests {
    private static let hasEnded = Atomic<Bool>(false)

    /// Registers a handler that runs like a driver's destructors, after handlers that were registered later.
    private static func registerDriver() {
        atexit { _exit(ProcessEndTests.hasEnded.load(ordering: .acquiring) ? 0 : 3) }
        ProcessEnd.driverIsLoaded(of: "/dev/dri/renderD128")
    }

    @Test func callsInProgressEndFirst() async {
        await #expect(processExitsWith: .exitCode(0)) {
            Self.registerDriver()
            let watch = DriverCallWatchdog(limitNanoseconds: 600_000_000_000)
            let hasBegun = OneShotEvent()
            let caller = try DeviceThread("test")
            caller.async {
                watch.release {
                    hasBegun.open()
                    usleep(300_000)
                    Self.hasEnded.store(true, ordering: .releasing)
                }
            }
            hasBegun.wait()
            exit(1)
        }
    }

    @Test func hungCallDoesNotDelayTheEnd() async {
        await #expect(processExitsWith: .exitCode(3)) {
            Self.registerDriver()
            let watch = DriverCallWatchdog(limitNanoseconds: 20_000_000)
            #expect(throws: VAError.self) { try watch.run("vaSyncSurface") { sleep(600) } }
            exit(1)
        }
    }

    @Test func noCallBeginsWhileTheProcessEnds() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // This handler runs after the handler that waits for calls.
            atexit {
                let watch = DriverCallWatchdog(limitNanoseconds: 1_000_000_000)
                watch.release { _exit(1) }
                do { try watch.run("vaEndPicture") { _exit(2) } } catch is VAError { _exit(4) } catch { _exit(7) }
            }
            ProcessEnd.driverIsLoaded(of: "/dev/dri/renderD128")
            exit(1)
        }
    }
}
