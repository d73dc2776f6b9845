import FoundationEssentials
import FoundationSubset
import Testing

/// FoundationSubset must write what FoundationEssentials writes.
@Suite struct JSONEncoderTests {
    private struct Empty: Encodable {}

    private struct Null: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    private struct Nothing: Encodable {
        func encode(to encoder: any Encoder) throws {}
    }

    private enum Word: String, Encodable { case slash = "a/b" }

    private enum Choice: Encodable { case first(Int, name: String), second }

    private class Base: Encodable { var base = 1 }

    private final class Derived: Base {
        private enum Key: CodingKey { case one, many, more, none }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try super.encode(to: container.superEncoder())
            try container.encode(1, forKey: .one)
            try container.encode(2, forKey: .one)
            try container.encodeNil(forKey: .none)
            var many = container.nestedUnkeyedContainer(forKey: .many)
            try many.encode(1.5)
            try many.encode(Float(0.1))
            try many.encode(Int8(-3))
            try many.encode("s")
            try many.encode(true)
            try many.encodeNil()
            try many.encode(Empty())
            _ = many.nestedUnkeyedContainer()
            var more = many.nestedContainer(keyedBy: Key.self)
            try more.encode(UInt16.max, forKey: .more)
        }
    }

    private struct All: Encodable {
        var controls = "\"\\/" + String(String.UnicodeScalarView((0..<0x21).map { Unicode.Scalar(UInt8($0)) })) + "\u{7f}ü😀\u{2028}e\u{301}"
        var keys = ["B": 1, "a": 2, "A": 3, "b": 4, "_": 5, "a10": 6, "a9": 7, "ä": 8, "z": 9, "": 10, "aB": 11, "ab": 12, "a/b": 13]
        var numbered = [3: "c"]
        var doubles = [0, -0.0, 1, 0.1, 1e15, 1e16, 1e300, 1e-7, 5e-324, 123_456_789.125, -2.5]
        var floats: [Float] = [0.1, 16_777_216, 3.4e38, -1]
        var integers = [Int.min, Int.max]
        var unsigned = UInt64.max
        var nested = [[1], []]
        var absent: Int?
        var optionals: [String?] = ["a", nil]
        var none: [Int] = []
        var empty = Empty()
        var null = Null()
        var nothing = Nothing()
        var word = Word.slash
        var words = [Word.slash]
        var choices = [Choice.first(1, name: "k"), .second]
        var derived = Derived()
        var flag = false
    }

    private func expectEqual(_ value: some Encodable) throws {
        let (foundation, subset) = (FoundationEssentials.JSONEncoder(), FoundationSubset.JSONEncoder())
        foundation.outputFormatting = [.sortedKeys]
        subset.outputFormatting = [.sortedKeys]
        #expect(try String(data: subset.encode(value), encoding: .utf8) == String(decoding: foundation.encode(value), as: UTF8.self))
        foundation.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        subset.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        #expect(try String(data: subset.encode(value), encoding: .utf8) == String(decoding: foundation.encode(value), as: UTF8.self))
    }

    @Test func writesWhatFoundationWrites() throws {
        try expectEqual(All())
        try expectEqual([Empty()])
        try expectEqual(Empty())
        try expectEqual([Int]())
        try expectEqual("text")
        try expectEqual(Null())
    }

    @Test func rejectsWhatFoundationRejects() {
        func message(_ encode: () throws -> Void) -> String {
            do { try encode() } catch { return "\(error)" }
            return "no error"
        }
        func expectEqual(_ value: some Encodable) {
            let expected = message { _ = try FoundationEssentials.JSONEncoder().encode(value) }
            #expect(expected != "no error")
            #expect(message { _ = try FoundationSubset.JSONEncoder().encode(value) } == expected)
        }
        expectEqual(Double.nan)
        expectEqual(["a": [Float.infinity]])
        expectEqual(["a": -Double.infinity])
        expectEqual(Nothing())
    }
}
