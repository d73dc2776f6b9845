import Glibc

/// The limit on this process's address space (RLIMIT_AS, `ulimit -v`).
enum AddressSpace {
    /// Has malloc keep few heaps where the address space is limited: one, and another for each GiB of the limit.
    ///
    /// Otherwise glibc reserves 64 MB for nearly every thread that allocates, used or not. With few heaps an HEVC encode of
    /// 1280×720 needs 420 MB in place of 750 MB. Call it before there is a second thread.
    static func shareHeaps() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max
        else { return }
        // SAFETY: mallopt(3) has this type. Swift's module of glibc lacks it, and a C library that is not glibc may.
        guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
        let mallopt = unsafe unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        // M_ARENA_MAX
        _ = mallopt(-8, CInt(clamping: max(1, limit.rlim_cur >> 30)))
    }
}
