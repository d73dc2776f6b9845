import VideoBase

extension BenchReport {
    /// Computes `bdRate` from the runs.
    ///
    /// For each clip, the first entries have libx264, the usual anchor, followed by the encoders of the same codec: FFmpeg
    /// on the same driver, and libx265. Curves with fewer than four runs are left out.
    mutating func computeDifferences() {
        bdRate = clips.flatMap { clip in
            let encoders = encoders(of: clip.input)
            let common = encoders.filter { $0 != "libx264" }.compactMap { difference(clip.input, of: $0, against: "libx264") }
            let sameCodec = runs.filter { $0.input == clip.input }.reduce(into: [Run]()) { first, run in
                if !first.contains(where: { $0.encoder == run.encoder }) { first.append(run) }
            }
            let others = sameCodec.filter { $0.path != "ffmpeg" && $0.path != "software" }.flatMap { ours in
                sameCodec.filter { ($0.path == "ffmpeg" || $0.encoder == "libx265") && $0.codec == ours.codec }
                    .compactMap { difference(clip.input, of: ours.encoder, against: $0.encoder) }
            }
            return common + others
        }
    }

    /// Returns the BD-rates of an encoder; nil if one of the curves has fewer than four runs.
    private func difference(_ input: String, of encoder: String, against anchor: String) -> Difference? {
        func points(_ name: String, _ quality: (Run) -> Double?) -> [BDRate.Point] {
            runs.filter { $0.input == input && $0.encoder == name }.compactMap { run in
                quality(run).map { BDRate.Point(bitrate: Double(run.bytes), quality: $0) }
            }
        }
        func count(_ name: String) -> Int { runs.count { $0.input == input && $0.encoder == name } }
        guard points(anchor, \.psnr.wrapped).count >= 4, count(encoder) >= 4 else { return nil }
        func percent(_ quality: (Run) -> Double?) -> Nullable<Double> {
            Nullable(BDRate.percent(of: points(encoder, quality), against: points(anchor, quality)).map(rounded))
        }
        return Difference(
            input: input, of: encoder, against: anchor, percent: percent(\.psnr.wrapped),
            percentSSIM: percent { run in run.ssim.wrapped.flatMap { $0 < 1 ? -10 * logarithm10(1 - $0) : nil } })
    }
}
