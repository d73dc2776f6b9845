import EncodePlanning

/// A model of the decoded picture buffer that outputs pictures only when it must (C.4.5), and returns their names in
/// output order.
struct OutputModel {
    private struct Picture {
        var name: Int
        var poc: Int
        var isWaiting = true
    }

    /// The value of max_dec_frame_buffering.
    let size: Int
    private var pictures: [Picture] = []
    private(set) var output: [Int] = []
    private(set) var faults: [String] = []

    init(size: Int) { self.size = size }

    /// Adds a decoded picture. `references` are the names of the pictures that are marked for reference after it is
    /// decoded.
    mutating func decode(name: Int, poc: Int, isIDR: Bool, isReference: Bool, references: [Int]) {
        if isIDR { flush() }
        func discard() { pictures.removeAll { !$0.isWaiting && !references.contains($0.name) } }
        discard()
        while pictures.count >= size {
            let first = pictures.filter(\.isWaiting).min { $0.poc < $1.poc }
            if !isReference, first.map({ poc < $0.poc }) ?? true {
                output.append(name)
                return
            }
            guard first != nil else {
                faults.append("no room for \(name)")
                return
            }
            bump()
            discard()
        }
        pictures.append(Picture(name: name, poc: poc))
    }

    mutating func flush() {
        while pictures.contains(where: \.isWaiting) { bump() }
        pictures.removeAll()
    }

    private mutating func bump() {
        guard
            let index = pictures.indices.filter({ pictures[$0].isWaiting }).min(by: {
                pictures[$0].poc < pictures[$1].poc
            })
        else { return }
        pictures[index].isWaiting = false
        output.append(pictures[index].name)
    }
}
