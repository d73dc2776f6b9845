package import BitstreamInspection

/// Runs this project's own reader on streams. The reader shares no code with the writer. Tests use it in addition to
/// decoders, never alone.
package enum Streams {
    /// Reads an H.264 Annex B stream. Errors are in its `violations`.
    package static func inspect(_ bytes: [UInt8]) -> H264Stream { H264Stream(annexB: bytes) }

    /// Reads an Annex B stream of either codec.
    package static func inspect(_ bytes: [UInt8], codec: StreamCodec) -> any InspectedStream {
        switch codec {
        case .h264: H264Stream(annexB: bytes)
        case .hevc: HEVCStream(annexB: bytes)
        }
    }
}

extension EncodedStream {
    /// A copy whose reconstruction contains only pictures of the stream. It omits pictures that were encoded again with
    /// another QP, and the picture with which an encoder reads a driver's parameter sets. If several pictures in a row
    /// match a picture of the stream, the last one is kept.
    public var withoutRepeats: EncodedStream {
        var copy = self
        let frames = inspectedStream.pictures
        var kept: [Int] = []
        for index in reconstruction.pictures.indices {
            guard kept.count < frames.count else { break }
            let picture = reconstruction.pictures[index]
            let frame = frames[kept.count]
            func isFrame(_ other: Reconstruction.Picture) -> Bool {
                frame.isOf(type: other.type) && other.poc == frame.pictureOrderCount
            }
            let left = reconstruction.pictures.count - index - 1
            let isFollowed = left >= frames.count - kept.count && isFrame(reconstruction.pictures[index + 1])
            if isFrame(picture), !isFollowed { kept.append(index) }
        }
        copy.reconstruction.pictures = kept.map { reconstruction.pictures[$0] }
        copy.reconstruction.frames = kept.map { reconstruction.frames[$0] }
        return copy
    }

    /// Whether a picture's marking refers to long-term references (H.264 only).
    var marksLongTerm: Bool {
        inspected.frames.contains { frame in
            guard case .adaptive(let operations)? = frame.slices.first?.header.marking else { return frame.isLongTerm }
            return operations.contains { operation in
                switch operation {
                case .makeLongTerm, .setLongTermCount, .makeCurrentLongTerm, .forgetLongTerm: true
                case .forgetShortTerm, .forgetAll: false
                }
            }
        }
    }

    /// The H.264 stream as the reader reads it.
    package var inspected: H264Stream { Streams.inspect(stream) }
    /// The stream of either codec as its reader reads it.
    package var inspectedStream: any InspectedStream { Streams.inspect(stream, codec: codec) }

    /// Returns the violations of the standard (headers, order, references, marking, output, level, and the HRD if the
    /// stream has one), and the differences between the stream and the driver's list of pictures. Empty if there are
    /// none.
    public func violations() -> [String] {
        let inspected = inspectedStream
        let frames = inspected.pictures
        var faults = (inspected.violations + (inspected.hrd()?.violations ?? [])).map(\.description)
        if frames.count != reconstruction.pictures.count {
            faults.append("\(frames.count) pictures, the driver coded \(reconstruction.pictures.count)")
        }
        for (frame, picture) in zip(frames, reconstruction.pictures) {
            if !frame.isOf(type: picture.type) {
                faults.append("picture \(frame.index) is \(frame.type.rawValue), the driver coded \(picture.type)")
            }
            if frame.pictureOrderCount != picture.poc {
                faults.append("picture \(frame.index): POC \(frame.pictureOrderCount), the driver's is \(picture.poc)")
            }
        }
        return faults
    }

    /// Returns messages for HEVC pictures without MD5 hashes. libavcodec compares the hashes with the decoded pictures.
    public func unhashed() -> [String] {
        guard let stream = inspectedStream as? HEVCStream else { return [] }
        return stream.frames.compactMap { frame in
            if case .md5? = frame.pictureHash { nil } else { "picture \(frame.index) has no MD5 hashes" }
        }
    }
}

extension InspectedPicture {
    /// Returns whether the picture has the type that a driver reported. HEVC P pictures may be B slices with equal
    /// lists.
    func isOf(type: String) -> Bool {
        let type = type.uppercased()
        return self.type.rawValue == type || type == "P" && isGeneralizedP
    }
}
