internal import Glibc

/// A shared library on disk.
enum LibraryFile {
    /// Whether the file contains everything that its headers refer to (elf(5)). The loader does not check this: it maps
    /// a truncated file, and the process is terminated by SIGBUS when it reads beyond the end.
    static func isWhole(_ path: String) -> Bool {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var (header, status) = (Elf64_Ehdr(), stat())
        // SAFETY: Both calls fill the structures.
        let count = unsafe pread(file, &header, MemoryLayout<Elf64_Ehdr>.size, 0)
        guard unsafe fstat(file, &status) == 0, count == MemoryLayout<Elf64_Ehdr>.size else { return false }
        let size = UInt64(max(0, status.st_size))
        func ends(_ start: UInt64, _ length: UInt64) -> Bool {
            let (end, overflows) = start.addingReportingOverflow(length)
            return !overflows && end <= size
        }
        guard ends(header.e_shoff, UInt64(header.e_shnum) * UInt64(header.e_shentsize)),
            ends(header.e_phoff, UInt64(header.e_phnum) * UInt64(header.e_phentsize)),
            Int(header.e_phentsize) == MemoryLayout<Elf64_Phdr>.size
        else { return false }
        for index in 0..<Int(header.e_phnum) {
            var segment = Elf64_Phdr()
            // SAFETY: The call fills the structure, and the table lies within the file.
            let offset = Int(header.e_phoff) + index * MemoryLayout<Elf64_Phdr>.size
            guard unsafe pread(file, &segment, MemoryLayout<Elf64_Phdr>.size, offset) == MemoryLayout<Elf64_Phdr>.size,
                ends(segment.p_offset, segment.p_filesz)
            else { return false }
        }
        return true
    }
}
