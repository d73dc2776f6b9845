import MediaFiles
import Vaenc

/// The object that `vaenc compare` prints: the contract of docs/CLI.md, `"schema": 1`.
struct CompareReport: Encodable {
    /// The PSNR in decibels; null if the planes are equal.
    struct PSNR: Encodable {
        var y: Nullable<Double>
        var u: Nullable<Double>
        var v: Nullable<Double>
        var average: Nullable<Double>

        init(_ error: PictureError) {
            func value(_ psnr: Double) -> Nullable<Double> { Nullable(psnr.isFinite ? (psnr * 1e4).rounded() / 1e4 : nil) }
            (y, u, v) = (value(error.psnr(plane: 0)), value(error.psnr(plane: 1)), value(error.psnr(plane: 2)))
            average = value(error.averagePSNR)
        }
    }

    /// The SSIM; 1 if the planes are equal.
    struct SSIM: Encodable {
        var y: Double
        var u: Double
        var v: Double
        var all: Double

        init(_ similarity: PictureSimilarity) {
            func value(_ ssim: Double) -> Double { (ssim * 1e6).rounded() / 1e6 }
            (y, u, v) = (value(similarity.ssim(plane: 0)), value(similarity.ssim(plane: 1)), value(similarity.ssim(plane: 2)))
            all = value(similarity.ssimOfAll)
        }
    }

    struct Frame: Encodable {
        var index: Int
        var psnr: PSNR
        var ssim: SSIM
    }

    var schema = 1
    var reference: String
    var distorted: String
    var width: Int
    var height: Int
    /// The bit depth of the samples that were compared.
    var bitDepth: Int
    var frames: Int
    var psnr: PSNR
    var ssim: SSIM
    var perFrame: [Frame]
    /// The changes that were made to the pictures before the comparison.
    var notices: [String]

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - infos: The properties of the reference and of the distorted input.
    ///   - names: The names of the reference and of the distorted input.
    init(_ comparison: ClipComparison, _ infos: [SourceInfo], names: [String]) {
        (reference, distorted) = (names[0], names[1])
        (width, height) = (comparison.size.width, comparison.size.height)
        bitDepth = comparison.format.bitDepth
        frames = comparison.pictures.count
        psnr = PSNR(comparison.error)
        ssim = SSIM(comparison.similarity)
        perFrame = comparison.pictures.enumerated().map {
            Frame(index: $0, psnr: PSNR($1.error), ssim: SSIM($1.similarity))
        }
        let turnsDiffer = infos.contains { $0.displayMatrix != infos[0].displayMatrix }
        notices = zip(names, infos).flatMap { name, info in
            var notices = info.notices
            if info.nativeSize != info.size { notices.append("\(name) is \(info.nativeSize), and was scaled to \(info.size)") }
            if info.size != comparison.size {
                notices.append(
                    "\(name) is \(info.size), and only the common area of \(comparison.size) was compared: "
                        + "4:2:0 pads odd sides by one")
            }
            let format = info.nativeFormatName ?? info.nativeFormat?.rawValue
            let known: Set<PixelFormat> = [.nv12, .i420, .yv12, .p010, .i420p10]
            if let format, !(info.nativeFormat.map(known.contains) ?? false) || info.bitDepth > comparison.format.bitDepth {
                notices.append("\(name) is \(format), and was converted to \(comparison.format.bitDepth)-bit 4:2:0")
            } else if info.bitDepth != comparison.format.bitDepth {
                notices.append(
                    "\(name) has \(info.bitDepth) bits, and was scaled to \(comparison.format.bitDepth) bits")
            }
            if turnsDiffer, !info.displayMatrix.isEmpty {
                notices.append("\(name) is displayed \(Rotation.name(info.displayMatrix)), and was compared as stored")
            }
            return notices
        }
        if let clip = comparison.convertedClip {
            let name = clip == .reference ? names[0] : names[1]
            notices.append("\(name) has full range, and was converted to the limited range of the other clip")
        }
        let matrices = infos.map { $0.color.knownMatrix.map { $0 == 5 ? 6 : $0 } }
        if let first = matrices[0], let second = matrices[1], first != second {
            notices.append(
                "\(names[0]) and \(names[1]) have different matrix coefficients (\(first) and \(second) of "
                    + "ITU-T H.273), and their samples were compared without conversion")
        }
    }

    /// The report as human-readable text.
    var text: String {
        func decibels(_ value: Nullable<Double>) -> String { value.wrapped.map { decimal($0, 2) + " dB" } ?? "equal" }
        var lines = [
            "\(counted(frames, "picture")), \(width)×\(height), \(bitDepth) bits",
            "PSNR  y \(decibels(psnr.y))  u \(decibels(psnr.u))  v \(decibels(psnr.v))  average \(decibels(psnr.average))",
            "SSIM  y \(decimal(ssim.y, 4))  u \(decimal(ssim.u, 4))  v \(decimal(ssim.v, 4))  all \(decimal(ssim.all, 4))",
        ]
        let worst = perFrame.min { $0.psnr.y.wrapped ?? .infinity < $1.psnr.y.wrapped ?? .infinity }
        if let worst, frames > 1, worst.psnr.y.wrapped != nil {
            lines.append("worst picture: \(worst.index), PSNR y \(decibels(worst.psnr.y)), SSIM y \(decimal(worst.ssim.y, 4))")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
