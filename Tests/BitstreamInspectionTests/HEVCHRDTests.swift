import BitstreamInspection
import TestOracles
import Testing

/// The check of HEVC's Annex C passes x265's conforming streams and fails changed copies.
@Suite struct HEVCHRDTests {
    @Test(arguments: HEVCSample.rates) func conformingStreamsPass(_ sample: HEVCSample) throws {
        let stream = HEVCStream(annexB: try sample.stream())
        let report = try #require(stream.hrd())
        #expect(report.violations.map(\.description) == [])
        #expect(report.schedules.count == 1)
        let schedule = try #require(report.schedules.first)
        #expect(schedule.fullness.count == sample.frames)
        #expect(schedule.fullness.map(\.before).max() ?? 0 > 0.3 * Double(schedule.cpbSize))
        #expect(schedule.fullness.allSatisfy { $0.before >= $0.after && $0.after > -1 })
    }

    @Test func streamsWithoutHRDParametersHaveNoReport() throws {
        #expect(HEVCStream(annexB: try HEVCSample.structures[0].stream()).hrd() == nil)
    }

    /// Returns the stream with a filler NAL unit of `count` bytes at the end of an access unit.
    private func growing(_ frame: Int, by count: Int, _ stream: HEVCStream, _ bytes: [UInt8]) -> [UInt8] {
        let end = stream.byteRange(stream.frames[frame]).upperBound
        let layer = UInt8(stream.frames[frame].temporalID + 1)
        let filler: [UInt8] = [0, 0, 1, 38 << 1, layer] + [UInt8](repeating: 0xff, count: count) + [0x80]
        return Array(bytes[..<end]) + filler + bytes[end...]
    }

    @Test(arguments: HEVCSample.rates) func largerPicturesFail(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        let schedule = try #require(stream.hrd()?.schedules.first)
        for frame in [0, 1, 5, stream.frames.count / 2] {
            // The filler alone is as large as the whole buffer.
            let larger = HEVCStream(annexB: growing(frame, by: schedule.cpbSize / 8, stream, bytes))
            #expect(larger.violations.isEmpty)
            #expect(larger.hrd()?.conforms == false, "picture \(frame)")
        }
    }

    @Test(arguments: HEVCSample.rates) func changedDelaysFail(_ sample: HEVCSample) throws {
        let stream = HEVCStream(annexB: try sample.stream())
        #expect(stream.hrd()?.conforms == true)
        for change in [-20, -3, 20] {
            var changed = stream
            let index = try #require(
                changed.frames.indices.first { $0 > 0 && changed.frames[$0].bufferingPeriod == nil })
            changed.frames[index].changeTiming { $0.au_cpb_removal_delay = ($0.au_cpb_removal_delay ?? 0) + change }
            #expect(changed.hrd()?.conforms == false, "\(change) ticks")
        }
        var changed = stream
        changed.frames[0].changePeriod { $0.nal[0].initial_cpb_removal_delay /= 16 }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.frames[4].changeTiming { $0.pic_dpb_output_delay = ($0.pic_dpb_output_delay ?? 0) + 2000 }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.frames[3].information.removeAll { if case .pictureTiming = $0 { true } else { false } }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.frames[0].information.removeAll { if case .bufferingPeriod = $0 { true } else { false } }
        #expect(changed.hrd()?.conforms == false)
    }

    @Test(arguments: HEVCSample.rates) func smallerBuffersAndLowerRatesFail(_ sample: HEVCSample) throws {
        let stream = HEVCStream(annexB: try sample.stream())
        let schedule = try #require(stream.hrd()?.schedules.first)
        let fullest = schedule.fullness.map(\.before).max() ?? 0
        var changed = stream
        changed.changeSchedule { $0.bitrate /= 3 }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.changeSchedule { $0.cpbSize = Int(fullest * 0.95) }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.changeSchedule { $0.cbr_flag = true }
        #expect(changed.hrd()?.conforms == false)
    }
}

extension HEVCFrame {
    fileprivate mutating func changeTiming(_ body: (inout HEVCPictureTiming) -> Void) {
        for index in information.indices {
            if case .pictureTiming(var timing) = information[index] {
                body(&timing)
                information[index] = .pictureTiming(timing)
            }
        }
    }

    fileprivate mutating func changePeriod(_ body: (inout HEVCBufferingPeriod) -> Void) {
        for index in information.indices {
            if case .bufferingPeriod(var period) = information[index] {
                body(&period)
                information[index] = .bufferingPeriod(period)
            }
        }
    }
}

extension HEVCStream {
    fileprivate mutating func changeSchedule(_ body: (inout HRDSchedule) -> Void) {
        for index in sequenceSets.indices {
            for layer in sequenceSets[index].vui?.hrd?.subLayers.indices ?? 0..<0 {
                guard var schedule = sequenceSets[index].vui?.hrd?.subLayers[layer].nal.first else { continue }
                body(&schedule)
                sequenceSets[index].vui?.hrd?.subLayers[layer].nal[0] = schedule
            }
        }
    }
}
