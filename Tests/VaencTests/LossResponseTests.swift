import Synchronization
import TestOracles
import Testing
import Vaenc

/// A conference: packets are lost, the sender refers to other pictures, and vaenc's decoder uses what can be decoded.
/// The judge is libavcodec's decoding of the whole stream.
@Suite struct LossResponseTests {
    private struct Received {
        var luma: [UInt8]
        var followsDamage: Bool
    }

    /// Encodes `count` pictures, each of which is delivered at once.
    ///
    /// - Parameter report: Called before each picture; may report losses to the session.
    private func sent(
        _ codec: VideoCodec, _ count: Int, _ change: (inout EncoderConfiguration) -> Void,
        report: (Int, CompressionSession) throws -> Void = { _, _ in }
    ) throws -> [EncodedPacket] {
        var configuration = Pictures.immediate(codec: codec)
        change(&configuration)
        let list = PacketList()
        let session = try CompressionSession(configuration: configuration, device: .reference) { list.add($0) }
        defer { session.invalidate() }
        for index in 0..<count {
            try report(index, session)
            try Pictures.encode(index..<(index + 1), on: session)
        }
        try session.completeFrames()
        return try list.values()
    }

    /// Decodes all packets but the lost ones. Returns the pictures by their index.
    private func received(_ packets: [EncodedPacket], without lost: Set<Int>, on device: DeviceSelector) throws -> [Int: Received] {
        let found = Mutex<[Int: Received]>([:])
        let session = try DecompressionSession(configuration: DecompressionConfiguration(codec: packets[0].codec), device: device) { result in
            guard case .success(.frame(let frame)) = result else { return }
            let index = Int(frame.timing.presentation.value)
            var luma: [UInt8] = []
            try? frame.buffer.withUnsafePlanes { planes in
                for row in 0..<planes.size.height {
                    luma += UnsafeRawBufferPointer(start: planes.base(0) + row * planes.pitch(0), count: planes.size.width)
                }
            }
            found.withLock { [luma] in $0[index] = Received(luma: luma, followsDamage: frame.followsDamage) }
        }
        defer { session.invalidate() }
        for (index, packet) in packets.enumerated() where !lost.contains(index) {
            try session.decode(packet.bytes, presentation: MediaTime(value: Int64(index), timescale: 25))
        }
        try session.finish()
        return found.withLock { $0 }
    }

    private func expect(_ found: [Int: Received], toMatch whole: [PlanarFrame], _ comment: String) {
        let wrong = found.keys.sorted().filter { !whole[$0].luma.elementsEqual(found[$0]?.luma ?? []) }
        #expect(wrong.isEmpty, "\(comment): \(wrong)")
    }

    /// Pictures that refer to a lost one are skipped, also with temporal layers, where H.264 allows gaps in frame_num.
    @Test(arguments: VideoCodec.allCases, [1, 2, 3, 4]) func noWrongPictureFollowsALoss(_ codec: VideoCodec, _ layers: Int) throws {
        for (number, references) in [nil, 1, 2, 4].enumerated() {
            let packets = try sent(codec, 18) {
                $0.structure.temporalLayers = layers
                $0.structure.references = references
            }
            let whole = Pictures.decode(packets)
            // Every pair of layers, references and lost picture occurs.
            for lost in 1..<17 where (lost + number + layers) % 2 == 0 {
                let found = try received(packets, without: [lost], on: .software)
                let comment = "\(layers) layers, \(references ?? 0) references, without \(lost)"
                // H.264 allows gaps in frame_num with temporal layers only. Which list entries are lost is then unknown.
                let isExact = codec == .hevc || layers == 1
                expect(isExact ? found : found.filter { !$0.value.followsDamage }, toMatch: whole, comment)
                if packets[lost].isReference { #expect(found.values.count { !$0.followsDamage } < 17, "\(comment)") }
            }
            // A removed layer is no loss.
            for least in 1..<layers where layers > 1 {
                let removed = Set(packets.indices.filter { packets[$0].temporalLayer >= least })
                let rest = try received(packets, without: removed, on: .software)
                #expect(rest.count == 18 - removed.count && rest.values.allSatisfy { !$0.followsDamage }, "\(layers) layers, \(least) left")
                expect(rest, toMatch: whole, "\(layers) layers, \(least) left")
            }
        }
    }

    /// A picture that refers to none of the lost ones can be decoded, and so can those after it.
    @Test(arguments: VideoCodec.allCases, [DeviceSelector.software, .reference])
    func picturesAfterAResponseAreDecoded(_ codec: VideoCodec, _ device: DeviceSelector) throws {
        let packets = try sent(codec, 30) {
            $0.structure.longTermReferences = 2
            $0.structure.references = 4
        } report: { index, session in
            if index == 12 { try session.invalidateReferences(displayIndices: [9, 10]) }
        }
        #expect(packets.dropFirst().allSatisfy { !$0.isKey })
        let whole = Pictures.decode(packets)
        let found = try received(packets, without: [9, 10], on: device)
        expect(found, toMatch: whole, "\(codec)")
        #expect(Set(found.keys) == Set(0..<30).subtracting([9, 10, 11]), "\(found.keys.sorted())")
    }
}
