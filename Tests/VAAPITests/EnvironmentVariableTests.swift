import Glibc
import Synchronization
import Testing
import VAAPI

/// Variables are set temporarily in a process whose other threads read them; glibc's setenv would crash those threads.
@Suite(.serialized) struct EnvironmentVariableTests {
    private static let name = "VAENC_TEST_VARIABLE"

    private static func value(_ name: String = name) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    @Test func variablesAreSetTemporarily() throws {
        let home = Self.value("HOME")
        let path = try #require(Self.value("PATH"))
        for round in 0..<2 {
            Environment.with([Self.name: Optional("\(round)"), "HOME": nil]) {
                #expect(Self.value() == "\(round)")
                #expect(Self.value("HOME") == nil)
                #expect(Self.value("PATH") == path)
            }
            #expect(Self.value() == nil)
            #expect(Self.value("HOME") == home)
        }
        struct Refused: Error {}
        #expect(throws: Refused.self) { try Environment.with([Self.name: "1"]) { throw Refused() } }
        #expect(Self.value() == nil)
    }

    @Test func equalChangesShareOneList() {
        let lists = (0..<3).map { _ in Environment.with(["VAENC_TEST_SAME": "1"]) { unsafe UInt(bitPattern: environ) } }
        #expect(Set(lists).count == 1)
        #expect(unsafe UInt(bitPattern: environ) != lists[0])
    }

    /// A program that sets its own variables at the same time keeps them. The test runs in another process, because it
    /// changes the list that other tests read.
    @Test(arguments: [false, true]) func concurrentChangesAreKept(addsOne: Bool) async {
        await #expect(processExitsWith: .success) { [addsOne] in
            unsafe setenv("VAENC_TEST_THERE", "before", 1)
            unsafe setenv("VAENC_TEST_GONE", "before", 1)
            // Existing names are changed in place; a new name needs a copy of the list.
            Environment.with([Self.name: "1"]) {
                unsafe setenv("VAENC_TEST_THERE", "after", 1)
                unsafe setenv(Self.name, "other", 1)
                if addsOne { unsafe setenv("VAENC_TEST_NEW", "new", 1) }
                unsafe unsetenv("VAENC_TEST_GONE")
            }
            #expect(Self.value("VAENC_TEST_NEW") == (addsOne ? "new" : nil))
            #expect(Self.value("VAENC_TEST_THERE") == "after")
            #expect(Self.value("VAENC_TEST_GONE") == nil)
            #expect(Self.value() == nil)
        }
    }

    /// Threads that read all the time, as libraries do, see the old or the new value.
    @Test func concurrentReadersDoNotCrash() {
        let ends = Mutex(false)
        let readers = (0..<3).map { _ in
            Reader {
                var count = 0
                repeat {
                    for _ in 0..<100 where unsafe getenv("VAENC_TEST_NOWHERE") == nil { count += 1 }
                } while !ends.withLock { $0 }
                return count
            }
        }
        for round in 0..<3000 {
            // The lists have many lengths, because a list that grows is moved.
            let names = (0...round % 50).map { "VAENC_TEST_\($0)" }
            Environment.with(Dictionary(uniqueKeysWithValues: names.map { ($0, "\(round % 2)") })) {
                #expect(Self.value("VAENC_TEST_0") == "\(round % 2)")
            }
        }
        ends.withLock { $0 = true }
        for reader in readers { #expect(reader.wait() > 0) }
    }
}

/// A thread with a result.
private final class Reader: @unchecked Sendable {
    private var thread = pthread_t()
    private let result = Mutex(0)
    private let body: @Sendable () -> Int

    init(_ body: @escaping @Sendable () -> Int) {
        self.body = body
        unsafe pthread_create(
            &thread, nil,
            { argument in
                let reader = unsafe Unmanaged<Reader>.fromOpaque(argument!).takeRetainedValue()
                let count = reader.body()
                reader.result.withLock { $0 = count }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
    }

    func wait() -> Int {
        pthread_join(thread, nil)
        return result.withLock { $0 }
    }
}
