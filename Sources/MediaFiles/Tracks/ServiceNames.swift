/// The names of a service and its provider in MPEG-TS, which libavformat takes from a file's tags.
enum ServiceNames {
    /// The number of bytes for both names in a service_descriptor, whose length field has eight bits (ETSI EN 300 468
    /// 6.2.33). Its type and the lengths of the names take three of 255 bytes.
    private static let room = 252
    /// The name that libavformat writes if there is no provider.
    private static let ownProvider = "FFmpeg"

    /// Returns the tags in the same order, with names that fit into the descriptor.
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

    /// Returns the size of a text in bytes. Text beyond ASCII has a leading byte that indicates UTF-8.
    private static func bytes(_ text: String) -> Int { text.utf8.count + (text.utf8.allSatisfy { $0 < 0x80 } ? 0 : 1) }

    /// Returns the beginning of a text that fits into `room` bytes. A text may be megabytes long.
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
