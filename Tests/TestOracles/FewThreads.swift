/// A library for LD_PRELOAD under which a program has few threads (Tests/FewThreads).
public enum FewThreads {
    private static let library = Result { try PreloadedLibrary.compile("FewThreads/threads.c", libraries: ["-ldl"]) }

    /// What a program's environment must have to get `most` threads at once, besides its first.
    public static func environment(most: Int) throws -> [String: String?] {
        ["LD_PRELOAD": PreloadedLibrary.variable([try library.get()]), "MOST_THREADS": "\(most)"]
    }
}
