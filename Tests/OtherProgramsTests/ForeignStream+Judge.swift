import TestOracles
import Testing

extension ForeignStream {
    /// Compares the stream's pictures, as foreign decoders show them, with the driver's reconstruction.
    ///
    /// openh264 judges I and P pictures only: its version 2.3 also decodes x264's B pictures incorrectly.
    ///
    /// - Parameters:
    ///   - saysOrder: whether the stream states how far pictures are reordered. Otherwise a decoder learns it too late,
    ///     and the ffmpeg program, which reads ahead in the stream, decodes instead.
    ///   - hasClosedSlices: whether no filter crosses slice borders. If so, libde265 judges luma only: it looks up a
    ///     chroma block's slice at the block's coordinates in its own plane, and SAO takes neighbors for those of
    ///     another slice.
    func judge(frames: Int = 12, saysOrder: Bool = true, hasClosedSlices: Bool = false) throws {
        #expect(reconstruction.frames.count == frames)
        let shown = reconstruction.framesInOutputOrder
        for decoder in ForeignDecoder.all(for: codec) {
            if decoder == .openh264 && reconstruction.pictures.contains(where: { $0.type == "B" }) { continue }
            if decoder == .libavcodec && !saysOrder {
                #expect(try decodedByFFmpeg() == shown)
                continue
            }
            let video = decoder.decode(bytes, codec: codec)
            #expect(video.messages == [], "\(decoder)")
            let isLumaOnly = decoder == .libde265 && hasClosedSlices
            let isSame =
                isLumaOnly ? video.frames.map(\.luma) == shown.map(\.luma) : video.frames == shown
            #expect(isSame, "\(decoder): \(Self.difference(video.frames, shown))")
        }
        #expect(worstPSNR > 30, "\(worstPSNR) dB")
        #expect(reconstruction.pictures.map(\.bytes).reduce(0, +) == bytes.count)
    }

    private static func difference(_ frames: [PlanarFrame], _ shown: [PlanarFrame]) -> String {
        func sizes(_ frames: [PlanarFrame]) -> String {
            "\(frames.count) of " + Set(frames.map { "\($0.width)×\($0.height)" }).sorted().joined(separator: ", ")
        }
        let wrong = zip(frames, shown).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
        return "\(sizes(frames)), not \(sizes(shown)); wrong: \(wrong)"
    }
}
