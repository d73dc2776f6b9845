import ArgumentParser
import VideoBase

/// How the values of options are written.
enum OptionValue {
    /// Refuses a number outside its range, naming the range.
    static func check(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw VaencError.usage(
            "\(option) \(value) is out of range", remedy: "use \(range.lowerBound) to \(range.upperBound)")
    }

    /// `6M`, `800k` or `1500000`.
    static func rate(_ option: String, _ text: String) throws -> BitsPerSecond {
        guard let rate = BitsPerSecond(text) else {
            throw VaencError.usage("\(option) \(text) is not a bit rate", remedy: "write 6M, 800k or 1500000")
        }
        return rate
    }

    /// `X,Y,WxH:DELTA`.
    static func region(_ text: String) throws -> RegionOfInterest {
        let wrong = VaencError.usage(
            "--roi \(text) is not a region", remedy: "write X,Y,WxH:DELTA, as 64,32,320x180:-6 (DELTA from -51 to 51)")
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2, let delta = Int(halves[1]), (-51...51).contains(delta) else { throw wrong }
        let parts = halves[0].split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let x = Int(parts[0]), let y = Int(parts[1]), let size = VideoSize(parts[2]),
            (0...65535).contains(x), (0...65535).contains(y), size.width <= 65536, size.height <= 65536
        else { throw wrong }
        return RegionOfInterest(x: x, y: y, width: size.width, height: size.height, qpDelta: delta)
    }

    /// `BYTES/SECONDS`.
    static func dataRateLimit(_ text: String) throws -> DataRateLimit {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Int(parts[0]), let seconds = Double(parts[1]), bytes > 0,
            seconds > 0, seconds <= 3600
        else {
            throw VaencError.usage(
                "--data-rate-limit \(text) is not a limit", remedy: "write BYTES/SECONDS, as 750000/1")
        }
        return DataRateLimit(bytes: bytes, seconds: seconds)
    }

    /// `off`, `on`, or the offsets `ALPHA:BETA`.
    static func deblocking(_ text: String) throws -> Deblocking {
        switch text {
        case "on": return Deblocking()
        case "off": return Deblocking(isOn: false)
        default:
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 2, let alpha = parts[0], let beta = parts[1], (-6...6).contains(alpha),
                (-6...6).contains(beta)
            else {
                throw VaencError.usage(
                    "--deblock \(text) is not known", remedy: "use on, off, or offsets from -6 to 6 as ALPHA:BETA")
            }
            return Deblocking(alphaOffset: alpha, betaOffset: beta)
        }
    }

    /// The frames and the times (in seconds) of a list such as `0,50,12.5s`.
    static func keyFrames(_ text: String) throws -> (frames: Set<Int>, times: [Double]) {
        var frames: Set<Int> = []
        var times: [Double] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            if part.last == "s", let seconds = Double(part.dropLast()), seconds >= 0, seconds < 1e9 {
                times.append(seconds)
            } else if let frame = Int(part), frame >= 0 {
                frames.insert(frame)
            } else {
                throw VaencError.usage(
                    "--force-key \(text) is not a list", remedy: "write frames or seconds, as 0,50,12.5s")
            }
        }
        return (frames, times.sorted())
    }
}
