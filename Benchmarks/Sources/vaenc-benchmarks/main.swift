import Glibc
import TestOracles

let parts: [(name: String, title: String, run: () throws -> [Figure])] = [
    ("host", "Host cost on the reference driver in null mode, 1000 frames, medians of five", HostCost.run),
    ("coded", "Host cost by the size of coded pictures, reference driver in null mode, 500 frames, medians of five", HostCost.coded),
    ("startup", "Time from start to first packet on the reference driver in null mode, medians of nine", HostCost.startup),
    ("amd", "Host cost on AMD's driver over a faked kernel, 300 frames, medians of five", HostCost.amd),
    ("probe", "Time to query a device, medians of fifteen", HostCost.probe),
    ("speed", "Speed of the reference driver, medians of five", Quality.speed),
    ("quality", "Compression of the reference driver, QP 22/26/30/34/38, one GOP", Quality.run),
    ("hevc", "HEVC of the reference driver, QP 22/26/30/34/38, one GOP", Quality.hevc),
    ("bframes", "B pictures of the reference driver, QP 22/26/30/34/38, one GOP, preset 4", Quality.pyramids),
    ("rates", "Rate control over a minute at 640×360 on the reference driver, preset 7", Rates.run),
    ("hevcrates", "Rate control of HEVC over 20 seconds, 500 kbit/s at 640×360 on the reference driver", Rates.hevc),
    ("hard", "Rate control on fades, flashes, cuts and black at 320×180: the worst picture against x264's", HardContentFigures.run),
    ("ratechange", "Changes of the bit rate while encoding, at 640×360 on the reference driver", RateChange.run),
]
let requested = CommandLine.arguments.dropFirst()
if let unknown = requested.first(where: { name in !parts.contains { $0.name == name } }) {
    print("no such part: \(unknown) (\(parts.map(\.name).joined(separator: ", ")))")
    exit(64)
}
var missed = 0
for part in parts where requested.isEmpty || requested.contains(part.name) {
    print(part.title)
    do {
        for figure in try part.run() {
            print(figure.line)
            if !figure.holds { missed += 1 }
        }
    } catch {
        print("  not measured: \(error)")
        missed += 1
    }
    fflush(nil)
}
exit(missed == 0 ? 0 : 1)
