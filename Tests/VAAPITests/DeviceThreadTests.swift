import Synchronization
import Testing

@testable import VAAPI

@Suite struct DeviceThreadTests {
    private struct Refusal: Error, Equatable { var number: Int }

    private final class Shared<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>
        init(_ value: Value) { mutex = Mutex(value) }
        func change(_ body: (inout sending Value) -> Void) { mutex.withLock { body(&$0) } }
        var value: Value { mutex.withLock { $0 } }
    }

    @Test func runsJobsInOrderAndWaitsForThem() throws {
        let seen = Shared<[Int]>([])
        do {
            let thread = try DeviceThread()
            for number in 0..<1000 { thread.async { seen.change { $0.append(number) } } }
            #expect(thread.sync { seen.value.count } == 1000)
            for number in 1000..<1100 { thread.async { seen.change { $0.append(number) } } }
        }
        // Letting go of the thread waited for the rest.
        #expect(seen.value == Array(0..<1100))
    }

    @Test func handsBackResultsAndErrors() throws {
        let thread = try DeviceThread()
        #expect(thread.sync { 7 * 6 } == 42)
        #expect(throws: Refusal(number: 3)) {
            try thread.sync { () throws(Refusal) in throw Refusal(number: 3) }
        }
        #expect(thread.sync { thread.sync { "inside" } } == "inside")
    }

    @Test func mayEndOnItself() throws {
        let done = Gate()
        let box = Shared<DeviceThread?>(try DeviceThread())
        box.value?.async {
            box.change { $0 = nil }
            done.open()
        }
        done.wait()
    }

    @Test func takesJobsFromManyThreads() throws {
        let target = try DeviceThread()
        let sources = try (0..<8).map { _ in try DeviceThread() }
        let count = Shared(0)
        for source in sources {
            source.async {
                for _ in 0..<200 { target.sync { count.change { $0 += 1 } } }
            }
        }
        for source in sources { source.sync {} }
        #expect(count.value == 1600)
    }
}
