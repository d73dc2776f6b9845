import Glibc
@testable import ReferenceDriver
import Synchronization
import TestOracles
import Testing

/// Returns the kernel's number of the calling thread.
private func currentThread() -> Int {
    let file = unsafe open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)
    var bytes = [UInt8](repeating: 0, count: 16)
    let length = unsafe read(file, &bytes, bytes.count)
    close(file)
    return Int(String(decoding: bytes.prefix(max(length, 0)).prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) ?? 0
}

private func exists(thread: Int) -> Bool { Files.list("/proc/self/task").contains("\(thread)") }

/// Tests the threads that help encoders.
@Suite struct WorkerPoolTests {
    /// The numbers of the calls, and their threads.
    private final class Calls: Sendable {
        let made = Mutex<[(number: Int, thread: Int)]>([])

        func add(_ number: Int) {
            let thread = currentThread()
            made.withLock { $0.append((number, thread)) }
        }
    }

    /// Runs `count` units of work with a pool, and expects each to be done once.
    private func work(_ pool: WorkerPool, calls: Int, count: Int = 200) -> [(number: Int, thread: Int)] {
        let made = Calls()
        let units = Mutex((next: 0, done: 0))
        let begun = Atomic(0)
        pool.run(calls) { number in
            made.add(number)
            begun.add(1, ordering: .relaxed)
            while units.withLock({ units in
                units.next += 1
                return units.next <= count
            }) {
                sched_yield()
                units.withLock { $0.done += 1 }
            }
        }
        #expect(units.withLock { $0.done } == count)
        let result = made.made.withLock { $0 }
        #expect(begun.load(ordering: .relaxed) == result.count)
        #expect(Set(result.map(\.number)).count == result.count && Set(result.map(\.thread)).count == result.count)
        #expect(result.allSatisfy { $0.number < max(calls, 1) })
        #expect(result.first { $0.number == 0 }?.thread == currentThread())
        return result
    }

    @Test func callsHaveDifferentNumbersAndThreads() throws {
        let pool = try #require(WorkerPool(helpers: 3))
        #expect(pool.helpers == 3)
        for calls in 0...6 { _ = work(pool, calls: calls) }
    }

    /// The caller waits for a helper that began before the caller's own call returned.
    @Test func runWaitsForTheHelpers() throws {
        let pool = try #require(WorkerPool(helpers: 1))
        let state = Mutex((begun: false, ended: false))
        pool.run(2) { number in
            if number == 0 {
                while !state.withLock({ $0.begun }) { sched_yield() }
            } else {
                state.withLock { $0.begun = true }
                usleep(20_000)
                state.withLock { $0.ended = true }
            }
        }
        #expect(state.withLock { $0.ended })
    }

    /// Many callers share the helpers, and none waits for a helper that is busy elsewhere.
    @Test func manyCallersShareThePool() async throws {
        let pool = try #require(WorkerPool(helpers: 2))
        let threads = await withTaskGroup(of: Set<Int>.self, returning: Set<Int>.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var threads: Set<Int> = []
                    for _ in 0..<50 {
                        for call in self.work(pool, calls: 4, count: 20) where call.number > 0 { threads.insert(call.thread) }
                    }
                    return threads
                }
            }
            return await group.reduce(into: Set<Int>()) { $0.formUnion($1) }
        }
        #expect(threads.count <= 2)
    }

    /// The threads of a pool end with its last reference.
    @Test func threadsEndWithThePool() throws {
        var pool = WorkerPool(helpers: 1)
        let helper = Mutex(0)
        try #require(pool).run(2) { number in
            if number > 0 { helper.withLock { $0 = currentThread() } }
            while helper.withLock({ $0 == 0 }) { sched_yield() }
        }
        let thread = helper.withLock { $0 }
        #expect(thread > 0 && exists(thread: thread))
        pool = nil
        // The kernel removes the entry shortly after the thread was joined.
        for _ in 0..<1000 where exists(thread: thread) { usleep(1000) }
        #expect(!exists(thread: thread))
    }

    /// All encoders of a process share one pool, with less threads than processors.
    @Test func theProcessHasOnePool() {
        let first = WorkerPool.shared()
        #expect(WorkerPool.shared() === first)
        #expect((first?.helpers ?? 0) < max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    @Test func noThreadsAreNoPool() {
        #expect(WorkerPool(helpers: 0) == nil)
    }
}
