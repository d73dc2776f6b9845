import NALUnits
package import VideoBase

/// The video stream of any file, as one Annex B byte stream in memory for inspection.
package struct ByteStreamFile: Sendable {
    /// A container's packet: the access unit that begins at `start` in `bytes`.
    package struct Packet: Sendable {
        package var start: Int
        /// The size in the container.
        package var byteCount: Int
        package var presentation: MediaTime?
        package var decode: MediaTime?
        package var isKey: Bool
    }

    package private(set) var bytes: [UInt8] = []
    /// The form of the input: `annexb`, `avcc`, or libavformat's name of the container.
    package private(set) var form: String
    package private(set) var codec: VideoCodec?
    /// The number of bytes at the start of `bytes` with parameter sets from the container's header.
    package private(set) var headerBytes = 0
    /// The packets in coding order; nil for a bare stream.
    package private(set) var packets: [Packet]?
    /// A notice about other video streams, which are not read.
    package private(set) var notice: String?
    /// A notice about discontinuous times, which were made continuous.
    package private(set) var timesNotice: String?
    /// The reason why the rest of the input could not be read; nil if all was read.
    package private(set) var fault: String?
    /// The offsets of NAL units in `bytes` (`start`) and in a length-prefixed file (`inFile`), in ascending order.
    private var unitOffsets: [(start: Int, inFile: Int)] = []

    /// Reads a whole file, or standard input for `-`.
    /// - Throws: `DescribedError`: `noInput`, `noPermission`, `inputOutput`; `badInput` if the input contains no
    ///   stream; `unavailable` for other codecs, and if there is no memory for the whole file.
    package init(_ path: String) throws {
        let reader = try ByteReader(path: path)
        let head = try reader.peek(4096)
        if head.isEmpty {
            throw VaencError(.badInput, "\(reader.name) is empty", remedy: "use a file that contains pictures")
        }
        let ending = MediaOutput.pathExtension(path)
        let named = VideoCodec(fileExtension: ending)
        var kind = StreamKind(head: head, byteCount: reader.length)
        if case .lengthPrefixed(let size)? = kind?.framing, size != .four, !MediaInput.isLengthPrefixedName(ending) { kind = nil }
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

    /// Returns the offset in the file of a NAL unit, or of its length prefix, that begins at `offset` in `bytes`. For a
    /// container it returns `offset`.
    package func fileOffset(of offset: Int) -> Int {
        var (low, high) = (0, unitOffsets.count)
        while low < high {
            let middle = (low + high) / 2
            if unitOffsets[middle].start < offset { low = middle + 1 } else { high = middle }
        }
        return low < unitOffsets.count && unitOffsets[low].start == offset ? unitOffsets[low].inFile : offset
    }

    private mutating func read(_ reader: ByteReader, _ take: ([UInt8], inout ByteStreamFile) throws -> Void) throws {
        // Reserves all memory at once: an array that grows needs its old memory and the new memory at the same time.
        if let length = reader.length { try makeRoom(for: max(0, length - reader.position), reader) }
        while true {
            let piece = try reader.readSome(1 << 20)
            if piece.isEmpty { return }
            try take(piece, &self)
        }
    }

    /// Reserves memory for `count` more bytes, up to the length of the file or slightly more.
    private mutating func makeRoom(for count: Int, _ reader: ByteReader) throws {
        try bytes.makeRoom(for: count, ceiling: reader.length ?? .max, "to read all of \(reader.name)")
    }

    private mutating func readPrefixed(_ reader: ByteReader, _ size: LengthSize) throws {
        form = "avcc"
        var converter = StreamConverter(from: .lengthPrefixed(size), to: .annexB)
        var unitOffsets: [(start: Int, inFile: Int)] = []
        func note(_ unit: ArraySlice<UInt8>, at offset: Int, into bytes: inout [UInt8]) throws {
            try unitOffsets.makeRoom(for: 1, "to read all of \(reader.name)")
            unitOffsets.append((bytes.count, offset - size.rawValue))
        }
        do {
            try read(reader) { piece, file in
                try file.makeRoom(for: piece.count, reader)
                try converter.append(piece, to: &file.bytes, onUnit: note)
            }
            try converter.finish(to: &bytes, onUnit: note)
        } catch let error as MalformedStream { fault = error.message }
        self.unitOffsets = unitOffsets
    }

    private mutating func readContainer(_ reader: ByteReader) throws {
        let file = try PacketReader(reader)
        form = file.info.container
        notice = file.info.notice
        guard let codec = file.info.codec else {
            throw VaencError(
                .unavailable,
                "\(reader.name) contains \(file.info.codecName), which is neither H.264 nor HEVC",
                remedy: "inspect it with ffprobe")
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
        let sets = RepeatedParameterSets.areRepeated(in: form) ? [] : RepeatedParameterSets.sets(of: file.info.headers, codec)
        var packets: [Packet] = []
        do {
            while let packet = try file.next() {
                var unit = packet.bytes
                if let size { try LengthPrefixed.convertToAnnexB(&unit, lengthSize: size) }
                if packets.isEmpty, !sets.isEmpty, !RepeatedParameterSets.hasSequence(unit, codec) {
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
            let location = packets.isEmpty ? "before the first picture" : "after picture \(packets.count)"
            fault = "damaged or truncated \(location) (\(error.words))"
        } catch let error as MalformedStream {
            fault = "packet \(packets.count): \(error.message)"
        }
        self.packets = packets
        timesNotice = [file.timesEntry].compactMap { $0 }.notice
    }
}
