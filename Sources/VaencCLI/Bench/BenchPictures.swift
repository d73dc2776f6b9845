import Glibc
import MediaFiles
import Vaenc
import VideoBase

/// Chooses the QPs with which the streams of all encoders have nearly the same size.
enum BenchPictures {
    /// The largest part of a picture that a report shows.
    static let largest = VideoSize(width: 640, height: 360)

    /// Returns the size that all streams should have: that of libx264, or else of the first encoder, at the second
    /// highest QP of three or more. Differences are visible at that quality. Returns nil without runs.
    static func target(_ runs: [BenchReport.Run]) -> Int? {
        guard let anchor = runs.contains(where: { $0.encoder == "libx264" }) ? "libx264" : runs.first?.encoder else { return nil }
        let sizes = runs.filter { $0.encoder == anchor }.sorted { $0.qp > $1.qp }.map(\.bytes)
        return sizes.count > 2 ? sizes[1] : sizes.first
    }

    /// Returns the QP, 1 to 51, at which an encoder's stream probably has a size.
    ///
    /// The logarithm of the size is interpolated linearly over the QP. Outside the measured QPs, the size doubles every
    /// six QPs.
    ///
    /// - Parameter points: The measured sizes.
    static func qp(for target: Int, _ points: [(qp: Int, bytes: Int)]) -> Int {
        func level(_ bytes: Int) -> Double { logarithm10(Double(max(bytes, 1))) / logarithm10(2) * 6 }
        let sorted = points.sorted { $0.qp < $1.qp }
        guard let first = sorted.first, let last = sorted.last else { return 30 }
        let wanted = level(target)
        func limited(_ qp: Double) -> Int { Int(min(max(qp.rounded(), 1), 51)) }
        if wanted >= level(first.bytes) { return limited(Double(first.qp) - (wanted - level(first.bytes))) }
        for (left, right) in zip(sorted, sorted.dropFirst()) where level(right.bytes) <= wanted {
            let height = level(left.bytes) - level(right.bytes)
            let part = height > 0 ? (level(left.bytes) - wanted) / height : 0
            return limited(Double(left.qp) + part * Double(right.qp - left.qp))
        }
        return limited(Double(last.qp) + (level(last.bytes) - wanted))
    }

    /// Encodes the middle of a 4:2:0 picture (NV12) as a PNG file.
    ///
    /// - Returns: The size of the part, and the file.
    static func png(_ picture: SystemPixelBuffer, color: ColorDescription) throws -> (size: VideoSize, bytes: [UInt8]) {
        let size = VideoSize(width: min(picture.size.width, largest.width), height: min(picture.size.height, largest.height))
        let part = try SystemPixelBuffer(format: .nv12, size: size)
        // Even offsets, because a chroma sample belongs to two luma samples in each direction.
        let left = (picture.size.width - size.width) / 4 * 2
        let top = (picture.size.height - size.height) / 4 * 2
        // SAFETY: both buffers are mapped during the copy. The part lies inside the picture: its sides are even or those
        // of the picture, and the offsets leave room for them.
        try unsafe picture.withUnsafePlanes { from in
            try unsafe part.withUnsafePlanes { to in
                for plane in 0..<2 {
                    let count = PixelFormat.nv12.rowBytes(plane: plane, width: size.width)
                    for row in 0..<PixelFormat.nv12.rows(plane: plane, height: size.height) {
                        let source = unsafe from.base(plane) + (row + (plane == 0 ? top : top / 2)) * from.pitch(plane) + left
                        unsafe memcpy(to.base(plane) + row * to.pitch(plane), source, count)
                    }
                }
            }
        }
        return (size, try StillPicture.bytes(of: part, format: .png, color: color))
    }
}

extension BenchClip {
    /// Returns a picture of the clip itself.
    func original(frame: Int) throws -> BenchReport.Original {
        let source = try openOriginal()
        defer { source.close() }
        let (size, png) = try BenchPictures.png(try Self.frame(frame, of: source), color: color)
        return BenchReport.Original(input: name, frame: frame, shown: size, png: png)
    }

    /// Encodes the clip with a QP that gives a stream of nearly `target` bytes, and decodes one picture of it.
    ///
    /// - Parameter points: The sizes at the QPs that were measured.
    func picture(_ contender: Contender, frame: Int, target: Int, _ points: [(qp: Int, bytes: Int)]) throws -> BenchReport.Picture {
        var qp = BenchPictures.qp(for: target, points)
        var child = try encode(contender, qp: qp)
        // A second try, with the size of the first one, if that is not within an eighth.
        let better = BenchPictures.qp(for: target, points.filter { $0.qp != qp } + [(qp, child.bytes)])
        let isFar = abs(Double(child.bytes) / Double(max(target, 1)) - 1) > 0.125
        if isFar, better != qp {
            qp = better
            child = try encode(contender, qp: qp)
        }
        let (original, decoded) = (try openOriginal(), try MediaInput.open(resources.stream))
        defer {
            original.close()
            decoded.close()
        }
        guard decoded.info.size == size else {
            throw VaencError(
                .deviceFailed, "\(contender.encoder) wrote pictures of \(decoded.info.size) instead of \(size)",
                remedy: "try vaenc encode with the same options, or leave out --html")
        }
        let (a, b) = (try Self.frame(frame, of: original), try Self.frame(frame, of: decoded))
        var similarity = PictureSimilarity()
        // SAFETY: both buffers are mapped during the comparison, and are only read.
        let error = try unsafe a.withUnsafePlanes { a in
            try unsafe b.withUnsafePlanes { b in
                try unsafe similarity.add(a, b)
                return try unsafe PictureError(a, b)
            }
        }
        let psnr = error.psnr(plane: 0)
        return BenchReport.Picture(
            path: contender.path, encoder: contender.encoder, codec: contender.codec.rawValue, input: name, frame: frame, qp: qp,
            bytes: child.bytes, bitrate: bitrate(child.bytes), psnr: Nullable(psnr.isFinite ? rounded(psnr) : nil),
            ssim: (similarity.ssim(plane: 0) * 1e6).rounded() / 1e6, png: try BenchPictures.png(b, color: color).bytes)
    }

    /// Reads a picture as NV12, or the last one before it.
    private static func frame(_ index: Int, of source: any FrameSource) throws -> SystemPixelBuffer {
        let buffer = try SystemPixelBuffer(format: .nv12, size: source.info.size)
        for _ in 0...max(index, 0) {
            // SAFETY: `withUnsafePlanes` keeps the planes mapped, and the source writes only inside them.
            guard try unsafe buffer.withUnsafePlanes({ unsafe try source.readFrame(into: $0) }) != nil else { break }
        }
        return buffer
    }
}
