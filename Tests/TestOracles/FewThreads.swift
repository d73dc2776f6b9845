/// A library for LD_PRELOAD that limits the number of a program's threads (Tests/FewThreads).
public enum FewThreads {
    private static let library = Result { try PreloadedLibrary.compile("FewThreads/threads.c", libraries: ["-ldl"]) }

    /// Returns the environment in which a program can have `most` threads at once in addition to its first.
    public static func environment(most: Int) throws -> [String: String?] {
        ["LD_PRELOAD": PreloadedLibrary.variable([try library.get()]), "MOST_THREADS": "\(most)"]
    }
}
