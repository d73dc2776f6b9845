import BitstreamInspection
import TestOracles
import Testing

/// The check of H.264's Annex C passes x264's conforming streams and fails changed copies.
@Suite struct HRDTests {
    @Test(arguments: Sample.rates) func conformingStreamsPass(_ sample: Sample) throws {
        let stream = H264Stream(annexB: try sample.stream())
        let report = try #require(stream.hrd())
        #expect(report.violations.map(\.description) == [])
        #expect(report.schedules.count == 1)
        let schedule = try #require(report.schedules.first)
        #expect(schedule.isConstant == sample.options.contains("nal-hrd=cbr"))
        #expect(schedule.fullness.count == sample.frames)
        // The stream uses the buffer, so the check is not trivial.
        #expect(schedule.fullness.map(\.before).max() ?? 0 > 0.3 * Double(schedule.cpbSize))
        #expect(schedule.fullness.allSatisfy { $0.before >= $0.after && $0.after > -1 })
    }

    @Test func streamsWithoutHRDParametersHaveNoReport() throws {
        #expect(H264Stream(annexB: try Sample.structures[0].stream()).hrd() == nil)
    }

    /// Returns the stream with a filler NAL unit of `count` bytes at the end of an access unit.
    private func growing(_ frame: Int, by count: Int, _ stream: H264Stream, _ bytes: [UInt8]) -> [UInt8] {
        let end = stream.byteRange(stream.frames[frame]).upperBound
        return Array(bytes[..<end]) + [0, 0, 1, 12] + [UInt8](repeating: 0xff, count: count) + [0x80] + bytes[end...]
    }

    @Test(arguments: Sample.rates) func largerPicturesFail(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        let schedule = try #require(stream.hrd()?.schedules.first)
        for frame in [0, 1, 5, stream.frames.count / 2, stream.frames.count - 1] {
            let larger = H264Stream(annexB: growing(frame, by: schedule.cpbSize / 8, stream, bytes))
            #expect(larger.violations.isEmpty)
            #expect(larger.hrd()?.conforms == false, "picture \(frame)")
        }
        // At a constant rate each bit delays all later ones: 50 bytes are noticed at the next buffering period.
        if schedule.isConstant {
            let larger = H264Stream(annexB: growing(3, by: 50, stream, bytes))
            #expect(larger.hrd()?.conforms == false)
        }
    }

    @Test(arguments: Sample.rates) func missingPicturesFail(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        // At a variable rate a removed non-reference picture is no violation: fewer bits arrive later.
        let isConstant = sample.options.contains("nal-hrd=cbr")
        let candidates = stream.frames.filter { $0.bufferingPeriod == nil && (isConstant || $0.isReference) }
        #expect(candidates.count > 10)
        for dropped in candidates.map(\.index) where dropped % 4 == 1 && dropped < stream.frames.count / 2 {
            let shorter = H264Stream(annexB: stream.removing([dropped], from: bytes))
            let broken = !shorter.violations.isEmpty || shorter.hrd()?.conforms == false
            #expect(broken, "picture \(dropped)")
        }
    }

    @Test(arguments: Sample.rates) func changedDelaysFail(_ sample: Sample) throws {
        let bytes = try sample.stream()
        let stream = H264Stream(annexB: bytes)
        for change in [-20, -3, 3, 20] {
            var changed = stream
            let last = try #require(changed.frames.lastIndex { $0.bufferingPeriod == nil })
            for index in 1...last where changed.frames[index].bufferingPeriod == nil {
                changed.frames[index].changeTiming { $0.cpb_removal_delay = ($0.cpb_removal_delay ?? 0) + change }
                break
            }
            #expect(changed.hrd()?.conforms == false, "\(change) ticks")
        }
        var changed = stream
        changed.frames[0].changePeriod { $0.nal[0].initial_cpb_removal_delay /= 16 }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.frames[4].changeTiming { $0.dpb_output_delay = ($0.dpb_output_delay ?? 0) + 2000 }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.frames[3].information.removeAll { if case .pictureTiming = $0 { true } else { false } }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.frames[0].information.removeAll { if case .bufferingPeriod = $0 { true } else { false } }
        #expect(changed.hrd()?.conforms == false)
    }

    @Test(arguments: Sample.rates) func smallerBuffersAndLowerRatesFail(_ sample: Sample) throws {
        let stream = H264Stream(annexB: try sample.stream())
        let schedule = try #require(stream.hrd()?.schedules.first)
        let fullest = schedule.fullness.map(\.before).max() ?? 0
        var changed = stream
        changed.changeSchedule { $0.cpbSize = Int(fullest * 0.95) }
        #expect(changed.hrd()?.conforms == false)
        changed = stream
        changed.changeSchedule { $0.cpbSize = Int(fullest) + 2 }
        #expect(changed.hrd()?.conforms == true)
        changed = stream
        changed.changeSchedule { $0.bitrate /= 3 }
        #expect(changed.hrd()?.conforms == false)
        if schedule.isConstant {
            for factor in [0.97, 1.03] {
                changed = stream
                changed.changeSchedule { $0.bitrate = Int(Double($0.bitrate) * factor) }
                #expect(changed.hrd()?.conforms == false)
            }
        }
    }

    /// The expected values are derived by hand: 8000 bit/s, one picture per second of 1000, 500, 1000 and 1500 bytes,
    /// and 8000 bits in the buffer at first.
    @Test func leakyBucketFullnessMatchesHandDerivedValues() {
        let bytes = [1000, 500, 1000, 1500]
        func check(_ size: Double, constant: Bool, initial: Double = 8000, rate: Double = 8000) -> HRDReport {
            LeakyBucket(bitrate: rate, size: size, initialFullness: initial, isConstant: constant)
                .check(bytes: bytes, seconds: [1])
        }
        let sound = check(12000, constant: true)
        #expect(sound.conforms)
        #expect(sound.schedules[0].fullness.map(\.before) == [8000, 8000, 12000, 12000])
        #expect(sound.schedules[0].fullness.map(\.after) == [0, 4000, 4000, 0])
        #expect(check(11999, constant: true).violations.map(\.frame) == [2, 3])
        // At a variable rate bits wait: only the last picture lacks a bit.
        #expect(check(11999, constant: false).violations.map(\.frame) == [3])
        #expect(check(12000, constant: false, initial: 7000).violations.map(\.frame) == [0])
        #expect(!check(12000, constant: true, rate: 7900).conforms)
    }
}

extension H264Frame {
    fileprivate mutating func changeTiming(_ body: (inout H264PictureTiming) -> Void) {
        for index in information.indices {
            if case .pictureTiming(var timing) = information[index] {
                body(&timing)
                information[index] = .pictureTiming(timing)
            }
        }
    }

    fileprivate mutating func changePeriod(_ body: (inout H264BufferingPeriod) -> Void) {
        for index in information.indices {
            if case .bufferingPeriod(var period) = information[index] {
                body(&period)
                information[index] = .bufferingPeriod(period)
            }
        }
    }
}

extension H264Stream {
    fileprivate mutating func changeSchedule(_ body: (inout HRDSchedule) -> Void) {
        for index in sequenceSets.indices {
            guard var hrd = sequenceSets[index].vui?.nal_hrd_parameters else { continue }
            body(&hrd.schedules[0])
            sequenceSets[index].vui?.nal_hrd_parameters = hrd
        }
    }
}
