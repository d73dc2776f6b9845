import TestOracles
import Testing

extension ForeignStream {
    /// Holds the stream's pictures, as decoders of others show them, against the driver's reconstruction.
    ///
    /// `saysOrder`: the stream says how far pictures are reordered. Where it does not, a decoder finds out too late,
    /// and ffmpeg, which looks at the stream first, is asked.
    ///
    /// openh264 judges I and P pictures only: its version 2.3 decodes x264's B pictures wrong, too.
    ///
    /// `hasClosedSlices`: no filter crosses the borders of slices. libde265 judges luma only then: it looks up a chroma
    /// block's slice at the block's coordinates in its own plane, and SAO takes neighbours for those of another slice.
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
