// Searches for texts in texts. They replace those of the standard library's _StringProcessing, which contains the engine of
// regular expressions: a twentieth of the program. In a file that imports this module, the compiler prefers these.

extension StringProtocol {
    /// Returns the first place of a text that is not empty.
    package func firstRange(of other: some StringProtocol) -> Range<Index>? {
        guard let first = other.utf8.first else { return nil }
        var position = utf8.startIndex
        while let start = utf8[position...].firstIndex(of: first) {
            var end = start
            var isFound = true
            for unit in other.utf8 {
                guard end < utf8.endIndex, utf8[end] == unit else {
                    isFound = false
                    break
                }
                utf8.formIndex(after: &end)
            }
            if isFound { return start..<end }
            position = utf8.index(after: start)
        }
        return nil
    }

    package func contains(_ other: some StringProtocol) -> Bool { other.isEmpty || firstRange(of: other) != nil }

    /// Returns the parts between the places of a separator.
    package func split(separatedBy separator: String) -> [SubSequence] {
        var parts: [SubSequence] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }

    /// Returns the text with another text in each place of a text.
    package func replacing(_ other: some StringProtocol, with replacement: some StringProtocol) -> String {
        split(separatedBy: String(other)).joined(separator: String(replacement))
    }
}
