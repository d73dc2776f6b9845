import Glibc

/// The limit on this process's address space (RLIMIT_AS, `ulimit -v`).
enum AddressSpace {
    /// Limits malloc to one heap, plus one for each GiB of the limit, if the address space is limited.
    ///
    /// Without this limit, glibc reserves 64 MB for nearly every thread that allocates. With few heaps, an HEVC encode
    /// of 1280×720 needs 420 MB instead of 750 MB. Call it before a second thread exists.
    static func shareHeaps() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max
        else { return }
        // SAFETY: mallopt(3) has this type. Swift's module of glibc lacks the function, and so may a C library other
        // than glibc.
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let mallopt = unsafe unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        // M_ARENA_MAX.
        _ = mallopt(-8, CInt(clamping: max(1, limit.rlim_cur >> 30)))
    }
}
