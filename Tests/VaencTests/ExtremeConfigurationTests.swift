import ExtremeValues
import TestOracles
import Testing
import VAAPI
import Vaenc

/// Extreme configurations through the public API: an error with a remedy, or a stream. A trap would end this program.
@Suite(.timeLimit(.minutes(60))) struct ExtremeConfigurationTests {
    @Test(arguments: [DeviceSelector.reference, .software]) func extremeConfigurationGivesAnErrorOrAStream(_ device: DeviceSelector) throws {
        var random = ExtremeValues.Random(seed: device == .software ? 5 : 3)
        var streams = 0
        var refused = 0
        for index in 0..<160 {
            var configuration = random.configuration()
            if index % 3 == 0 { configuration.codec = index % 2 == 0 ? .h264 : .hevc }
            let change = random.change()
            // A constant rate of gigabits is filled up correctly, but slowly.
            if configuration.rate.rateControl == .cbr, (configuration.rate.bitrate?.value ?? 0) > 100_000_000 { continue }
            let packets = PacketList()
            do {
                let session = try CompressionSession(configuration: configuration, device: device) { packets.add($0) }
                defer { session.invalidate() }
                try session.prepare()
                for frame in 0..<4 {
                    if frame == 2 {
                        do { try session.change(change) } catch let error as VaencError {
                            #expect([.usage, .unavailable].contains(error.category), "\(index): \(error)")
                        }
                        for value in ExtremeValues.integers where device == .reference {
                            // These frames do not exist.
                            if !(0..<4).contains(value) { try? session.invalidateReferences(displayIndices: [value]) }
                        }
                    }
                    let buffer = try session.makePixelBuffer()
                    try Pictures.draw(frame, into: buffer)
                    try session.encode(buffer, presentation: Pictures.time(frame))
                }
                try session.completeFrames()
                #expect(try packets.values().count == 4, "\(index): \(configuration)")
                streams += 1
            } catch let error as VaencError {
                #expect([.usage, .unavailable].contains(error.category) && error.remedy != nil, "\(index): \(error)")
                refused += 1
            }
        }
        #expect(streams > 30 && refused > 10, "\(streams) streams, \(refused) refused")
    }
}
