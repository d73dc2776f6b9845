import Synchronization
import VideoBase

/// A source of consecutive uncompressed pictures: raw files, and Y4M, in which a line precedes each picture.
final class RawSource: FrameSource {
    let info: SourceInfo

    private let reader: ByteReader
    /// The number of bytes before the first picture.
    private let headerBytes: Int
    private let isY4M: Bool
    private let frameLimit: Int?
    private let state: Guarded<State>

    private struct State {
        var pictures: PictureReader
        /// The index of the next picture, counted from the first one that is delivered.
        var index = 0
        var isClosed = false
    }

    /// Creates a source of raw pictures of `size`. The reader must be at the first picture.
    /// - Throws: `badInput` if a file's size is not a multiple of the picture's size.
    static func raw(_ reader: ByteReader, format: PixelFormat, size: VideoSize, options: SourceOptions) throws
        -> RawSource
    {
        let frameBytes = format.frameBytes(size)
        if let length = reader.length {
            let bytes = length - reader.position
            if bytes == 0 {
                throw VaencError(.badInput, "\(reader.name) is empty", remedy: "use a file that contains pictures")
            }
            if bytes % frameBytes != 0 {
                throw VaencError(
                    .badInput,
                    "\(reader.name) has \(bytes) bytes, which is not a multiple of the \(frameBytes) bytes of a "
                        + "\(size) \(format.rawValue) picture",
                    remedy: MediaInput.mayBeRaw(reader.name)
                        ? "check `inputSize` and `inputFormat`"
                        : "leave out `inputSize`, because the name means coded video"
                ).about(.pictureLayout)
            }
        }
        return try RawSource(
            reader, format: format, size: size, rate: nil, color: .unspecified,
            aspect: nil, kind: "raw \(format.rawValue)", isY4M: false, options: options)
    }

    /// Creates a source; the reader must be at the first picture, or for Y4M at the line before it.
    /// - Parameter ownRate: The input's frame rate; nil if the input does not state it.
    init(
        _ reader: ByteReader, format: PixelFormat, size: VideoSize, rate ownRate: Rational?, color: ColorDescription,
        aspect: Rational?, kind: String, isY4M: Bool, options: SourceOptions
    ) throws {
        let rate = options.frameRate ?? ownRate ?? Rational(30, 1)
        var color = format.isRGB ? color.ofRGBAsYUV(rows: size.height, asked: options.colorOfRGB) : color
        // Gray samples have the full range unless the header says otherwise, as in libswscale.
        if format == .gray, color.fullRange == nil { color.fullRange = true }
        let shaper = FrameShaper(
            source: size, aspect: aspect, color: color, output: options.outputSize, fit: options.fit)
        let pictures = PictureReader(format: format, size: size, shaper: shaper)
        self.reader = reader
        self.isY4M = isY4M
        headerBytes = reader.position
        let skipped = rate.firstFrame(from: options.start?.seconds ?? 0)
        var limit = options.frameLimit
        if let seconds = options.duration?.seconds {
            limit = min(limit ?? .max, rate.frameCount(from: options.start?.seconds, for: seconds))
        }
        frameLimit = limit
        var count: Int?
        if let length = reader.length {
            let each = pictures.frameBytes + (isY4M ? Y4MHeader.frameLine.count : 0)
            let bytes = length - reader.position
            // A header can announce pictures of a gigabyte: no memory is allocated for pictures that the file does not
            // have.
            if isY4M, bytes > Y4MHeader.frameLine.count, bytes < each {
                throw Self.cut(reader.name, picture: 0, count: bytes - Y4MHeader.frameLine.count, of: pictures.frameBytes)
            }
            count = min(limit ?? .max, max(0, (length - reader.position) / each - skipped))
        }
        var info = SourceInfo(
            size: shaper.outputSize, frameRate: rate, color: color, sampleAspectRatio: shaper.outputAspect,
            frameCount: count, duration: count.flatMap(rate.duration), nativeFormat: format,
            nativeSize: size, kind: kind)
        info.frameRateIsAssumed = ownRate == nil && options.frameRate == nil
        info.note(options)
        info.changes += [SourceInfo.speedChange(from: ownRate, to: options.frameRate)].compactMap { $0 }
        self.info = info
        state = Guarded(State(pictures: pictures))
        try skip(skipped, frameBytes: pictures.frameBytes)
    }

    func readFrame(into planes: PixelPlanes) throws -> FrameTiming? {
        // This check comes first, because a picture that was read would be lost.
        unsafe try planes.check(forPicturesOf: info.size)
        return try state.withLock { state -> FrameTiming? in
            if state.isClosed || state.index >= frameLimit ?? .max { return nil }
            if isY4M, try !readFrameLine(state.index) { return nil }
            let count = unsafe try state.pictures.read(from: reader, into: planes)
            if count == 0, !isY4M { return nil }
            if count != state.pictures.frameBytes {
                throw Self.cut(reader.name, picture: state.index, count: count, of: state.pictures.frameBytes)
            }
            defer { state.index += 1 }
            return timing(state.index)
        }
    }

    func cancel() { reader.cancel() }
    func close() { state.withLock { $0.isClosed = true } }

    private func timing(_ index: Int) -> FrameTiming {
        let rate = info.frameRate
        return FrameTiming(
            presentation: MediaTime(value: Int64(index * rate.denominator), timescale: Int32(rate.numerator)),
            duration: MediaTime(value: Int64(rate.denominator), timescale: Int32(rate.numerator)))
    }

    private static func cut(_ name: String, picture index: Int, count: Int, of wanted: Int) -> VaencError {
        VaencError(
            .badInput, "\(name) ends inside picture \(index) (\(count) of \(wanted) bytes)",
            remedy: "use a complete file" + (index > 0 ? ", or read only the complete pictures with `frameLimit` \(index)" : ""))
    }

    /// Reads the line before a picture. Returns false at the end of the stream.
    private func readFrameLine(_ index: Int) throws -> Bool {
        let expected = Y4MHeader.frameLine
        let line = try reader.read(expected.count)
        if line == expected { return true }
        if line.isEmpty { return false }
        guard line.dropLast().elementsEqual(expected.dropLast()), line.last == UInt8(ascii: " ") else {
            throw VaencError(
                .badInput, "\(reader.name) is broken (no FRAME line before picture \(index))",
                remedy: "write the file again, or read the part before this picture with `frameLimit` \(max(index, 1))")
        }
        // The parameters of the picture are skipped; none of them is needed.
        for _ in 0..<Y4MHeader.longestLine {
            let byte = try reader.read(1)
            if byte == [UInt8(ascii: "\n")] { return true }
            if byte.isEmpty { break }
        }
        throw VaencError(
            .badInput, "\(reader.name) is broken (the FRAME line before picture \(index) has no end)",
            remedy: "write the file again, or read the part before this picture with `frameLimit` \(max(index, 1))")
    }

    private func skip(_ count: Int, frameBytes: Int) throws {
        if count == 0 { return }
        if !isY4M, let length = reader.length {
            let (bytes, isTooFar) = count.multipliedReportingOverflow(by: frameBytes)
            reader.seek(to: isTooFar || bytes > length - reader.position ? length : reader.position + bytes)
            return
        }
        for index in 0..<count {
            if isY4M, try !readFrameLine(index) { return }
            if reader.isSeekable {
                reader.seek(to: reader.position + frameBytes)
            } else {
                var left = frameBytes
                while left > 0 {
                    let piece = try reader.readSome(min(left, 1 << 20))
                    if piece.isEmpty { return }
                    left -= piece.count
                }
            }
        }
    }
}
