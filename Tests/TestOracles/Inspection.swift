package import BitstreamInspection

/// What this project's own reader says of a stream. It shares no code with the writer, and judges beside decoders, never
/// alone.
package enum Streams {
    /// Reads an H.264 Annex B stream; what is wrong stands in its `violations`.
    package static func inspect(_ bytes: [UInt8]) -> H264Stream { H264Stream(annexB: bytes) }
}

extension EncodedStream {
    /// The stream as the reader sees it.
    package var inspected: H264Stream { Streams.inspect(stream) }

    /// Rules that the stream breaks: headers, order, references, marking, output, level, and the HRD where it has one;
    /// and where the driver's list of pictures says otherwise than the stream. Empty where nothing is wrong.
    public func violations() -> [String] {
        let inspected = inspected
        var faults = (inspected.violations + (inspected.hrd()?.violations ?? [])).map(\.description)
        if inspected.frames.count != reconstruction.pictures.count {
            faults.append("\(inspected.frames.count) pictures, the driver coded \(reconstruction.pictures.count)")
        }
        for (frame, picture) in zip(inspected.frames, reconstruction.pictures) {
            if frame.typeName != picture.type.uppercased() {
                faults.append("picture \(frame.index) is \(frame.typeName), the driver coded \(picture.type)")
            }
            if frame.pictureOrderCount != picture.poc {
                faults.append("picture \(frame.index): POC \(frame.pictureOrderCount), the driver's is \(picture.poc)")
            }
        }
        return faults
    }
}
