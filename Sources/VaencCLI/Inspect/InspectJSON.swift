/// Writes an inspection as one JSON object, in pieces. As a single text, a stream of many small pictures would take a
/// hundred times its size.
struct InspectJSON {
    let report: InspectReport

    private static let piece = 1000

    /// Writes the object.
    ///
    /// - Parameter write: Takes the next piece of the text. Returns whether to continue.
    /// - Returns: Whether every call of `write` returned true.
    func write(_ write: (String) -> Bool) throws -> Bool {
        // The object without its arrays ends in a newline and a brace.
        let object = try JSON.text(report)
        guard write(String(object.dropLast(2))) else { return false }
        guard write(",\n  \"frames\" : [") else { return false }
        let frames = report.frames
        for start in stride(from: 0, to: frames.count, by: Self.piece) {
            let part = try JSON.text(Array(frames[start..<min(start + Self.piece, frames.count)]), pretty: false)
            guard write((start == 0 ? "\n" : ",\n") + part.dropFirst().dropLast()) else { return false }
        }
        guard write("],\n  \"nalUnits\" : [") else { return false }
        for start in stride(from: 0, to: report.nalUnits.count, by: Self.piece) {
            var text = ""
            for index in start..<min(start + Self.piece, report.nalUnits.count) {
                let unit = report.nalUnits[index]
                text += index == 0 ? "\n" : ",\n"
                text += "{\"bytes\":\(unit.bytes),\"offset\":\(unit.offset),\"type\":\"\(unit.type)\"}"
            }
            guard write(text) else { return false }
        }
        return write("]\n}\n")
    }
}
