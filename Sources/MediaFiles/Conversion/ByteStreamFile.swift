import NALUnits
package import VideoBase

/// The video stream of a file of any kind as one Annex B byte stream in memory, for looking into it.
package struct ByteStreamFile: Sendable {
    /// A packet of a container: the access unit that begins at `start` in `bytes`.
    package struct Packet: Sendable {
        package var start: Int
        /// As the container has it.
        package var byteCount: Int
        package var presentation: MediaTime?
        package var decode: MediaTime?
        package var isKey: Bool
    }

    package private(set) var bytes: [UInt8] = []
    /// `annexb`, `avcc`, or libavformat's name of the container.
    package private(set) var form: String
    package private(set) var codec: VideoCodec?
    /// At the start of `bytes`: parameter sets from a container's header.
    package private(set) var headerBytes = 0
    /// In coding order; nil for a bare stream.
    package private(set) var packets: [Packet]?
    /// Of other video streams, which are left.
    package private(set) var notice: String?
    /// Of times that jump, and are continued.
    package private(set) var timesNotice: String?
    /// Why what comes behind could not be read.
    package private(set) var fault: String?
    /// Where NAL units stand in `bytes` and in a length-prefixed file, rising.
    private var places: [(start: Int, place: Int)] = []

    /// Reads all of a file, or of standard input for `-`.
    /// - Throws: `DescribedError`: `noInput`, `noPermission`, `inputOutput`, `badInput` for what holds no stream at all,
    ///   `unavailable` for other codecs, and where there is no memory for all of it.
    package init(_ path: String) throws {
        let reader = try ByteReader(path: path)
        let head = try reader.peek(4096)
        if head.isEmpty { throw VaencError(.badInput, "\(reader.name) is empty", remedy: "give a file with pictures in it") }
        let ending = MediaOutput.pathExtension(path)
        let named = VideoCodec(fileExtension: ending)
        let kind = StreamKind(head: head, byteCount: reader.length)
        form = "annexb"
        codec = kind?.codec ?? named
        switch kind?.framing ?? (named == nil || ending == "hvcc" ? nil : .annexB) {
        case .annexB:
            try read(reader) { piece, file in
                try file.makeRoom(for: piece.count, reader)
                file.bytes += piece
            }
        case .lengthPrefixed(let size): try readPrefixed(reader, size)
        case nil: try readContainer(reader)
        }
    }

    /// Where a NAL unit, or the length before it, stands: in the file, of a container in `bytes`.
    package func place(of offset: Int) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].start < offset { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].start == offset ? places[low].place : offset
    }

    private mutating func read(_ reader: ByteReader, _ take: ([UInt8], inout ByteStreamFile) throws -> Void) throws {
        // At once: an array that grows needs its old memory beside the new.
        if let length = reader.length { try makeRoom(for: max(0, length - reader.position), reader) }
        while true {
            let piece = try reader.readSome(1 << 20)
            if piece.isEmpty { return }
            try take(piece, &self)
        }
    }

    /// As much of a file is held as it has bytes, or little more.
    private mutating func makeRoom(for count: Int, _ reader: ByteReader) throws {
        try bytes.makeRoom(for: count, ceiling: reader.length ?? .max, "to read all of \(reader.name)")
    }

    private mutating func readPrefixed(_ reader: ByteReader, _ size: LengthSize) throws {
        form = "avcc"
        var converter = StreamConverter(from: .lengthPrefixed(size), to: .annexB)
        var places: [(start: Int, place: Int)] = []
        func note(_ unit: ArraySlice<UInt8>, _ offset: Int, _ bytes: inout [UInt8]) throws {
            try places.makeRoom(for: 1, "to read all of \(reader.name)")
            places.append((bytes.count, offset - size.rawValue))
        }
        do {
            try read(reader) { piece, file in
                try file.makeRoom(for: piece.count, reader)
                try converter.append(piece, to: &file.bytes, onUnit: note)
            }
            try converter.finish(to: &bytes, onUnit: note)
        } catch let error as MalformedStream { fault = error.message }
        self.places = places
    }

    private mutating func readContainer(_ reader: ByteReader) throws {
        let file = try PacketReader(reader)
        form = file.info.container
        notice = file.info.notice
        guard let codec = file.info.codec else {
            throw VaencError(
                .unavailable, "\(reader.name) holds \(file.info.codecName), which is neither H.264 nor HEVC, and only those can be inspected",
                remedy: "look at it with ffprobe")
        }
        self.codec = codec
        var size: LengthSize?
        if file.info.headers.first == 1 {
            do {
                let record = try DecoderConfiguration(record: file.info.headers, codec: codec)
                size = record.lengthSize
                for unit in record.units { AnnexB.append(unit, to: &bytes) }
            } catch { throw VaencError(.badInput, "\(reader.name): \(error.message)", remedy: error.remedy) }
        }
        headerBytes = bytes.count
        let sets = LeadingParameterSets.areRepeated(in: form) ? [] : LeadingParameterSets.sets(of: file.info.headers, codec)
        var packets: [Packet] = []
        do {
            while let packet = try file.next() {
                var unit = packet.bytes
                if let size { try LengthPrefixed.convertToAnnexB(&unit, lengthSize: size) }
                if packets.isEmpty, !sets.isEmpty, !LeadingParameterSets.hasSequence(unit, codec) {
                    for set in sets { AnnexB.append(set, to: &bytes) }
                    headerBytes = bytes.count
                }
                try packets.makeRoom(for: 1, "to read all of \(reader.name)")
                packets.append(
                    Packet(
                        start: bytes.count, byteCount: packet.byteCount, presentation: packet.presentation,
                        decode: packet.decode, isKey: packet.isKey))
                try makeRoom(for: unit.count, reader)
                bytes += unit
            }
        } catch let error as PacketReader.Break {
            if packets.isEmpty, let remedy = file.pipeRemedy { throw InputContext.unreadable(reader.name, error.words, remedy: remedy) }
            let place = packets.isEmpty ? "before the first picture" : "after picture \(packets.count)"
            fault = "damaged or cut short \(place) (\(error.words))"
        } catch let error as MalformedStream {
            fault = "packet \(packets.count): \(error.message)"
        }
        self.packets = packets
        timesNotice = [file.timesEntry].compactMap { $0 }.notice
    }
}
