/// Violations in the order in which they were found, at most a thousand of each rule. Without the limit, the list for a
/// malformed stream could take many times the stream's size.
struct ViolationList: Sendable, Hashable {
    private(set) var elements: [Violation] = []
    private var counts: [Violation.Rule: Int] = [:]

    static var limit: Int { 1000 }

    mutating func append(_ violation: Violation) {
        let count = counts[violation.rule, default: 0]
        counts[violation.rule] = count + 1
        if count < Self.limit {
            elements.append(violation)
        } else if count == Self.limit {
            elements.append(Violation(violation.rule, "more violations of this rule are not listed"))
        }
    }

    mutating func append(contentsOf violations: [Violation]) {
        for violation in violations { append(violation) }
    }
}
