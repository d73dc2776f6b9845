import Glibc
import Synchronization
import Testing

import Threads
@testable import VAAPI

@Suite struct DeviceThreadTests {
    private struct Refusal: Error, Equatable { var number: Int }

    private final class Shared<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>
        init(_ value: Value) { mutex = Mutex(value) }
        func change(_ body: (inout sending Value) -> Void) { mutex.withLock { body(&$0) } }
        var value: Value { mutex.withLock { $0 } }
    }

    @Test func jobsRunInOrder() throws {
        let seen = Shared<[Int]>([])
        do {
            let thread = try DeviceThread("test")
            for number in 0..<1000 { thread.async { seen.change { $0.append(number) } } }
            #expect(thread.sync { seen.value.count } == 1000)
            for number in 1000..<1100 { thread.async { seen.change { $0.append(number) } } }
        }
        // The release of the thread waited for the other jobs.
        #expect(seen.value == Array(0..<1100))
    }

    /// Jobs that are not urgent may wait for a lingering thread. They run in order, also if no further job arrives, a job
    /// makes them urgent, or the thread is released.
    @Test(arguments: [0, 20, 200, 1000]) func jobsThatAreNotUrgentRunInOrder(_ pauseMicroseconds: UInt32) throws {
        let seen = Shared<[Int]>([])
        do {
            let (first, second) = try DeviceThread.pair("test")
            for round in 0..<20 {
                let isDone = OneShotEvent()
                for number in 0..<10 {
                    if pauseMicroseconds > 0 { usleep(pauseMicroseconds) }
                    let thread = round % 3 == 0 && number % 2 == 1 ? second : first
                    thread.async(isUrgent: false) {
                        if round % 3 != 0 { seen.change { $0.append(round * 10 + number) } }
                        if number == 9 { isDone.open() }
                    }
                }
                switch round % 4 {
                case 0: isDone.wait()
                case 1: first.hurry()
                case 2: first.sync {}
                default: break
                }
            }
        }
        #expect(seen.value == (0..<20).filter { $0 % 3 != 0 }.flatMap { round in (0..<10).map { round * 10 + $0 } })
    }

    @Test func syncReturnsResultsAndErrors() throws {
        let thread = try DeviceThread("test")
        #expect(thread.sync { 7 * 6 } == 42)
        #expect(throws: Refusal(number: 3)) {
            try thread.sync { () throws(Refusal) in throw Refusal(number: 3) }
        }
        #expect(thread.sync { thread.sync { "inside" } } == "inside")
    }

    @Test func threadMayBeReleasedOnItself() throws {
        let done = OneShotEvent()
        let box = Shared<DeviceThread?>(try DeviceThread("test"))
        box.value?.async {
            box.change { $0 = nil }
            done.open()
        }
        done.wait()
    }

    @Test func jobsFromManyThreadsAllRun() throws {
        let target = try DeviceThread("test")
        let sources = try (0..<8).map { _ in try DeviceThread("test") }
        let count = Shared(0)
        for source in sources {
            source.async {
                for _ in 0..<200 { target.sync { count.change { $0 += 1 } } }
            }
        }
        for source in sources { source.sync {} }
        #expect(count.value == 1600)
    }

    /// A call that does not return keeps its thread and its job. The later jobs run on and see a hung device, and no
    /// waiter waits for the hung call.
    @Test func hungCallIsLeftBehind() throws {
        let watch = DriverCallWatchdog(limitNanoseconds: 600_000_000_000)
        let other = DriverCallWatchdog(limitNanoseconds: 600_000_000_000)
        let (comesBack, cameBack) = (OneShotEvent(), OneShotEvent())
        let lost = Shared<[String]>([])
        let seen = Shared<[String]>([])
        func attempt(_ watch: DriverCallWatchdog, _ name: String, _ body: @escaping @Sendable () -> Void) {
            do {
                try watch.run(name) { body() }
                seen.change { $0.append(name) }
            } catch { seen.change { $0.append("\(name): \((error as? VAError)?.status == .timedOut)") } }
        }
        do {
            let thread = try DeviceThread("test")
            thread.makesCalls { error in lost.change { $0.append((error as? VAError)?.call ?? "?") } }
            thread.async {
                attempt(watch, "quick") {}
                watch.limitNanoseconds = 50_000_000
            }
            thread.async {
                attempt(watch, "slow") { comesBack.wait() }
                cameBack.open()
            }
            thread.async { attempt(watch, "next") {} }
            thread.async { attempt(other, "of another device") {} }
            #expect(thread.sync { watch.isHung && !other.isHung })
            #expect(seen.value == ["quick", "next: true", "of another device"])
        }
        #expect(lost.value == ["slow"])
        comesBack.open()
        cameBack.wait()
        #expect(seen.value.last == "slow: true" && lost.value == ["slow"])
    }

    /// Each call has its own timeout; calls that return in time are never reported as lost.
    @Test func manyConcurrentCallsAreWatched() throws {
        let watches = (0..<8).map { _ in DriverCallWatchdog(limitNanoseconds: 600_000_000_000) }
        let lost = Shared(0)
        let count = Shared(0)
        do {
            let threads = try watches.map { _ in try DeviceThread("test") }
            for (thread, watch) in zip(threads, watches) {
                thread.makesCalls { _ in lost.change { $0 += 1 } }
                thread.async {
                    for _ in 0..<2000 { if (try? watch.run("call") { true }) == true { count.change { $0 += 1 } } }
                }
            }
        }
        #expect(count.value == 16000 && lost.value == 0)
    }

    /// An object whose deallocation takes time.
    private final class Slow: Sendable {
        let isFreed: Shared<Bool>
        init(_ isFreed: Shared<Bool>) { self.isFreed = isFreed }
        deinit {
            usleep(20_000)
            isFreed.change { $0 = true }
        }
    }

    /// After a wait for a job, the objects that it held are released.
    @Test func finishedJobIsReleased() throws {
        let (thread, pair) = (try DeviceThread("test"), try DeviceThread.pair("test"))
        for _ in 0..<10 {
            for thread in [thread, pair.first, pair.second] {
                let isFreed = Shared(false)
                do {
                    let slow = Slow(isFreed)
                    thread.async { _ = slow.isFreed.value }
                }
                thread.sync {}
                #expect(isFreed.value)
            }
        }
    }

    /// After a wait for a call, its result is uniquely referenced, however long the thread that made the call is
    /// delayed.
    @Test func returnedCallHoldsNoResult() throws {
        let watch = DriverCallWatchdog(limitNanoseconds: 600_000_000_000)
        var shared = 0
        for number in 0..<5000 {
            var result = try watch.run("call") { [Shared(number)] }
            if !isKnownUniquelyReferenced(&result[0]) { shared += 1 }
        }
        let thread = try DeviceThread("test")
        for number in 0..<5000 {
            var result = thread.sync { [Shared(number)] }
            if !isKnownUniquelyReferenced(&result[0]) { shared += 1 }
        }
        #expect(shared == 0)
    }

    @Test func nestedCallHasTheOuterTimeout() throws {
        let outer = DriverCallWatchdog(limitNanoseconds: 600_000_000_000)
        let inner = DriverCallWatchdog(limitNanoseconds: 1)
        let thread = try DeviceThread("test")
        thread.makesCalls { _ in }
        let answer = try thread.sync { () throws -> Int in
            try outer.run("outer") {
                try inner.run("inner") {
                    usleep(20_000); return 5
                }
            }
        }
        #expect(answer == 5 && !inner.isHung && !outer.isHung)
    }
}
