/// The parsed rules of VAENC_FAULT, which say which calls fail and how.
///
/// A rule has the form `CALL@WHEN=WHAT`. Rules are separated by semicolons. WHEN is `5` (the fifth call of that name),
/// `5+` (the fifth and all later calls), `*/5` (every fifth call) or `*` (all calls). WHAT is `status:N` (the call is
/// not made and returns N), `delay:MS`, `hang`, `lost[:N]`, `corrupt[:silent|:FLAGS]` or `abort`. A rule that begins
/// with `#` is a comment.
package struct FaultPlan: Sendable, Hashable {
    package struct Rule: Sendable, Hashable {
        package var call: String
        package var when: Occasion
        package var fault: Fault
    }

    /// The calls of one name to which a rule applies. Calls are counted from 1.
    package enum Occasion: Sendable, Hashable {
        case only(Int)
        case from(Int)
        case every(Int)

        package func matches(_ number: Int) -> Bool {
            switch self {
            case .only(let index): number == index
            case .from(let first): number >= first
            case .every(let period): number % period == 0
            }
        }
    }

    package enum Fault: Sendable, Hashable {
        /// The call is not made and returns this VAStatus.
        case status(Int32)
        case delay(milliseconds: Int)
        /// This call and all later calls on the display return this VAStatus. A display that is opened later works.
        case lost(Int32)
        case corrupt(Corruption)
        /// The process ends with SIGABRT, like a driver with a failed assertion.
        case abort
    }

    /// A corruption of returned data.
    ///
    /// The cases differ for vaMapBuffer only. For all other calls, every case makes the returned data invalid. A call
    /// that returns no data is made and reported as failed.
    package enum Corruption: Sendable, Hashable {
        /// Coded bytes are changed and marked BAD_BITSTREAM. If the buffer is not coded, the address is null.
        case marked
        /// Coded bytes are changed, but no flag is set.
        case silent
        /// These flags of VACodedBufferSegment.status are set, and no byte is changed.
        case flags(UInt32)
    }

    package var rules: [Rule] = []

    package init() {}

    /// Parses the rules.
    ///
    /// - Throws: `Unreadable` with the first rule that is invalid, and the reason.
    package init(reading text: String) throws(Unreadable) {
        for part in text.split(separator: ";") {
            let rule = Self.trimmed(part)
            if rule.isEmpty || rule.hasPrefix("#") { continue }
            rules.append(try Self.rule(rule))
        }
    }

    /// An error in the rules. The message is one line for the user.
    package struct Unreadable: Error, Hashable {
        package var message: String
    }

    /// Returns the fault of a call from the first rule that matches, or nil.
    ///
    /// - Parameter number: The number of calls of that name so far, including this one.
    package func fault(_ call: String, number: Int) -> Fault? {
        rules.first { $0.call == call && $0.when.matches(number) }?.fault
    }

    private static func rule(_ text: String) throws(Unreadable) -> Rule {
        guard let at = text.firstIndex(of: "@"), let equals = text[at...].firstIndex(of: "=") else {
            throw Unreadable(message: "'\(text)' does not have the form CALL@WHEN=WHAT")
        }
        let name = trimmed(text[..<at])
        guard let call = CallNames.countedName(of: name) else {
            throw Unreadable(message: "'\(name)' in '\(text)' is not a call that reaches a driver")
        }
        let whenText = trimmed(text[text.index(after: at)..<equals])
        guard let when = occasion(whenText) else {
            throw Unreadable(message: "'\(whenText)' in '\(text)' must be N, N+, */N or *, with N of 1 or more")
        }
        let faultText = trimmed(text[text.index(after: equals)...])
        guard let fault = fault(faultText) else {
            throw Unreadable(
                message:
                    "'\(faultText)' in '\(text)' must be status:N, delay:MS, hang, lost[:N], corrupt[:silent|:FLAGS] "
                    + "or abort")
        }
        return Rule(call: call, when: when, fault: fault)
    }

    private static func occasion(_ text: String) -> Occasion? {
        if text == "*" { return .from(1) }
        if text.hasPrefix("*/") { return positive(text.dropFirst(2)).map { .every($0) } }
        if text.hasSuffix("+") { return positive(text.dropLast()).map { .from($0) } }
        return positive(text[...]).map { .only($0) }
    }

    private static func fault(_ text: String) -> Fault? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count > 1 ? parts[1] : nil
        switch (parts[0], argument) {
        case ("status", let value?): return status(value).map { .status($0) }
        case ("delay", let value?):
            guard let number = integer(value), (0...86_400_000).contains(number) else { return nil }
            return .delay(milliseconds: number)
        case ("hang", nil): return .delay(milliseconds: 86_400_000)
        case ("lost", nil): return .lost(1)
        case ("lost", let value?): return status(value).map { .lost($0) }
        case ("abort", nil): return .abort
        case ("corrupt", nil): return .corrupt(.marked)
        case ("corrupt", "silent"?): return .corrupt(.silent)
        case ("corrupt", let value?): return integer(value).flatMap { UInt32(exactly: $0) }.map { .corrupt(.flags($0)) }
        default: return nil
        }
    }

    private static func status(_ text: Substring) -> Int32? {
        guard let number = integer(text), number != 0 else { return nil }
        return Int32(exactly: number)
    }

    private static func positive(_ text: Substring) -> Int? {
        guard let number = integer(text), number > 0 else { return nil }
        return number
    }

    /// Parses a decimal number, or a hexadecimal number with the prefix 0x.
    private static func integer(_ text: Substring) -> Int? {
        text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var slice = Substring(text)
        while let first = slice.first, first.isWhitespace { slice.removeFirst() }
        while let last = slice.last, last.isWhitespace { slice.removeLast() }
        return String(slice)
    }
}
