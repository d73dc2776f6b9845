import Testing
import VideoBase

@Suite struct SubstringSearchTests {
    @Test(arguments: [
        ("", "", true), ("a", "", true), ("", "a", false), ("rtmp://host", "://", true), ("rtmp:/host", "://", false), ("aab", "ab", true),
        ("aabaac", "aac", true), ("ab", "abc", false), ("größer", "ß", true), ("größer", "ss", false),
    ])
    func containsFindsTexts(_ text: String, _ part: String, _ isFound: Bool) {
        #expect(text.contains(part) == isFound)
        #expect("<\(text)>".dropFirst().dropLast().contains(part) == isFound)
    }

    @Test func firstRangeIsTheFirst() throws {
        let text = "aXbXXc"
        let range = try #require(text.firstRange(of: "X"))
        #expect(text[..<range.lowerBound] == "a" && text[range.upperBound...] == "bXXc")
        #expect(text.firstRange(of: "XXX") == nil)
        // Not a place before the part.
        let part = text.dropFirst(2)
        #expect(part.firstRange(of: "X").map { part[..<$0.lowerBound] } == "b")
    }

    @Test func splitKeepsEmptyParts() {
        #expect("a, b, , c".split(separatedBy: ", ") == ["a", "b", "", "c"])
        #expect(", ".split(separatedBy: ", ") == ["", ""])
        #expect("a".split(separatedBy: ", ") == ["a"])
    }

    @Test func replacingReplacesEveryPlace() {
        #expect("4×3×2".replacing("×", with: "x") == "4x3x2")
        #expect("aaa".replacing("aa", with: "b") == "ba")
        #expect("aba".replacing("a", with: "aa") == "aabaa")
        #expect("a".replacing("b", with: "c") == "a")
    }
}
