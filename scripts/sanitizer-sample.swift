// A program that checks the sanitizers. sanitize.sh runs it before the tests: without an argument, a sanitizer must
// report nothing; with `race` or `leak`, it must report the defect.
//
// Four threads contend for a Mutex. With the argument `race`, they also share an unprotected value. With `leak`,
// objects are retained and never released.
import Glibc
import Synchronization

final class Shared: Sendable {
    let guarded = Mutex(0)
    nonisolated(unsafe) var plain = 0
}

let shared = Shared()
let argument = CommandLine.arguments.dropFirst().first
let races = argument == "race"

@inline(never) func leak() {
    for _ in 0..<100 { _ = Unmanaged.passRetained(Shared()) }
}
if argument == "leak" { leak() }

var threads: [pthread_t] = []
for _ in 0..<4 {
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { _ in
            for _ in 0..<100_000 {
                shared.guarded.withLock { $0 += 1 }
                if races { shared.plain += 1 }
            }
            return nil
        }, nil)
    threads.append(thread)
}
for thread in threads { pthread_join(thread, nil) }
print(shared.guarded.withLock { $0 })
