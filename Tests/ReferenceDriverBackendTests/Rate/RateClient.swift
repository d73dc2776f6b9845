import CVA
import TestOracles

/// Returns a misc parameter buffer: its type, then the words of its structure.
func misc(_ type: VAEncMiscParameterType, _ words: [UInt32]) -> [UInt8] {
    var bytes: [UInt8] = []
    for word in [type.rawValue] + words { withUnsafeBytes(of: word) { bytes += $0 } }
    return bytes + [UInt8](repeating: 0, count: 256)
}

/// The fields of VAEncMiscParameterRateControl, in its order.
struct RateWords {
    var bitrate: UInt32
    var percentage: UInt32 = 100
    var window: UInt32 = 1000
    var initialQP: UInt32 = 0
    var minimumQP: UInt32 = 0
    var flags: UInt32 = 0
    var quality: UInt32 = 0
    var maximumQP: UInt32 = 0

    var buffer: [UInt8] {
        misc(
            VAEncMiscParameterTypeRateControl,
            [bitrate, percentage, window, initialQP, minimumQP, 0, flags, quality, maximumQP])
    }
}

/// Encodes carphone with a rate control mode and keeps the results.
final class RateClient {
    struct Picture {
        var bits: Int
        var qp: Int
        var status: UInt32
    }

    let stream: StreamClient
    private(set) var pictures: [Picture] = []
    private(set) var bytes: [UInt8] = []
    static let framesPerSecond = 30

    init(_ mode: Int32, still: Bool = false, codedBytes: Int = 1 << 18, profile: VAProfile = VAProfileH264High) throws {
        stream = StreamClient(width: 176, height: 144, profile: profile, rateControl: mode, codedBytes: codedBytes)
        stream.frames = Array(try Fixture.carphone.frames().prefix(still ? 1 : 120))
    }

    /// Encodes `count` pictures, with `parameters` before the first.
    func encode(_ count: Int, _ parameters: [[UInt8]] = []) -> Bool {
        for number in 0..<count {
            stream.paint()
            var buffers = stream.buffers(cabac: true)
            buffers.misc = [misc(VAEncMiscParameterTypeQualityLevel, [6])]
            if number == 0 { buffers.misc += parameters }
            guard stream.send(buffers) == VA_STATUS_SUCCESS, let coded = stream.client.coded(stream.coded) else {
                return false
            }
            stream.advance()
            pictures.append(Picture(bits: 8 * coded.bytes.count, qp: Int(coded.status & 0xff), status: coded.status))
            bytes += coded.bytes
        }
        return true
    }

    /// Returns the rate of the pictures `range` in bits/s.
    func rate(_ range: Range<Int>? = nil) -> Double {
        let part = range.map { Array(pictures[$0]) } ?? pictures
        return Double(part.reduce(0) { $0 + $1.bits }) * Double(Self.framesPerSecond) / Double(part.count)
    }

    /// Returns how often a buffer of `size` bits, filled at `rate` from `fullness` on, underflows and overflows (H.264
    /// Annex C).
    func violations(rate: Int, size: Int, fullness: Int, isConstant: Bool) -> (dry: Int, over: Int) {
        var (dry, over) = (0, 0)
        var held = Double(fullness)
        for picture in pictures {
            if Double(picture.bits) > held { dry += 1 }
            held += Double(rate) / Double(Self.framesPerSecond) - Double(picture.bits)
            // The least filler is one byte.
            if isConstant, held > Double(size) + 8 { over += 1 }
            held = min(held, Double(size))
        }
        return (dry, over)
    }
}
