/// The names that MPEG-TS has of a service and its provider, which libavformat takes from a file's tags.
enum ServiceNames {
    /// The bytes of both names in a service_descriptor, whose length has eight bits (ETSI EN 300 468 6.2.33): its type and the names' own
    /// lengths take three of 255.
    private static let room = 252
    private static let ownProvider = "FFmpeg"

    /// The tags in the same order, with names that the descriptor holds.
    static func fitting(_ tags: [MediaMetadata.Tag]) -> [MediaMetadata.Tag] {
        let provider = tags.first { $0.key.lowercased() == "service_provider" }.map { cut($0.value, to: room / 2) }
        let left = room - bytes(provider ?? ownProvider)
        return tags.map { tag in
            var tag = tag
            switch tag.key.lowercased() {
            case "service_provider": tag.value = cut(tag.value, to: room / 2)
            case "service_name", "title": tag.value = cut(tag.value, to: left)
            default: break
            }
            return tag
        }
    }

    /// Text beyond ASCII has a byte before it that names UTF-8.
    private static func bytes(_ text: String) -> Int { text.utf8.count + (text.utf8.allSatisfy { $0 < 0x80 } ? 0 : 1) }

    /// Returns the first characters of a text, as many as there is room for. A text may be megabytes long.
    private static func cut(_ text: String, to room: Int) -> String {
        if text.utf8.count < room { return text }
        var used = 0
        let beginning = text.prefix { character in
            used += character.utf8.count
            return used <= room
        }
        var result = String(beginning)
        while bytes(result) > room { result.removeLast() }
        return result
    }
}
