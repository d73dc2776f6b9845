import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Random calls with random arguments may have any status, but must not crash.
@Suite struct BackendFuzzTests {
    @Test(arguments: 0..<8) func randomCallsDoNotCrash(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var environment = Environment(isStrict: true)
        environment.isNull = seed % 4 == 0
        let client = Client(environment)
        let stream = StreamClient(client, width: 48, height: 32, packedHeaders: StreamClient.allHeaders)
        var ids: [UInt32] = [0, 1, VA_INVALID_ID, stream.config, stream.context, stream.coded]
        ids += stream.sources + stream.reconstructions
        let table = client.table
        let c = client.context
        func id() -> UInt32 { ids[Int.random(in: 0..<ids.count, using: &random)] }
        func number() -> Int32 {
            [-1, 0, 1, 2, 3, 7, 16, 48, 64, 4096, .max, .min][Int.random(in: 0..<12, using: &random)]
        }
        func keep(_ id: UInt32) { ids.append(id); if ids.count > 60 { ids.remove(at: 3) } }
        for _ in 0..<4000 {
            switch Int.random(in: 0..<22, using: &random) {
            case 0: keep(client.createConfig(VAProfile(number()), VAEntrypointEncSlice).1)
            case 1: keep(client.createConfig().1)
            case 2: keep(client.createSurfaces(Int(number() & 0xfff), Int(number() & 0xfff), Int(number() & 3)).1[0])
            case 3: keep(client.createContext(id(), Int(number() & 0x1fff), 32, targets: [id()]).1)
            case 4:
                let type = VABufferType(UInt32(Int.random(in: 0...40, using: &random)))
                keep(client.createBuffer(id(), type, size: Int(number() & 0xffff), count: Int(number() & 7)).1)
            case 5: _ = client.map(id())
            case 6: _ = client.unmap(id())
            case 7: _ = client.destroy(id())
            case 8: _ = table.vaBeginPicture(c, id(), id())
            case 9: _ = client.render(id(), [id(), id()])
            case 10: _ = table.vaEndPicture(c, id())
            case 11: _ = table.vaSyncSurface2(c, id(), 1000)
            case 12: _ = table.vaSyncBuffer(c, id(), 1000)
            case 13:
                let image = client.derive(id()).1
                keep(image.image_id)
                keep(image.buf)
            case 14:
                let image = client.createImage(VA_FOURCC_I420, Int(number()), Int(number() & 0xff)).1
                keep(image.image_id)
                keep(image.buf)
            case 15: _ = table.vaDestroyImage(c, id())
            case 16: _ = table.vaGetImage(c, id(), number(), number(), UInt32(bitPattern: number()), 8, id())
            case 17:
                _ = table.vaPutImage(
                    c, id(), id(), number(), 0, UInt32(bitPattern: number()), 8, 0, number(),
                    UInt32(bitPattern: number()), 8)
            case 18: _ = client.destroySurfaces([id()])
            case 19: _ = table.vaDestroyContext(c, id())
            case 20: _ = table.vaDestroyConfig(c, id())
            default: _ = table.vaBufferSetNumElements(c, id(), UInt32(bitPattern: number()))
            }
        }
    }

    /// In each picture, some bytes of some buffers are wrong.
    @Test(arguments: 0..<6) func damagedPicturesAreAcceptedOrRefused(seed: UInt64) {
        var random = SplitMix64(state: 100 + seed)
        var accepted = 0
        var refused = 0
        for _ in 0..<60 {
            let stream = StreamClient(width: 48, height: 32, packedHeaders: StreamClient.allHeaders)
            for _ in 0..<4 {
                var buffers = stream.buffers(
                    slices: Int.random(in: 1...2, using: &random), cabac: Bool.random(using: &random))
                func damage<Value>(_ value: inout Value) {
                    withUnsafeMutableBytes(of: &value) { bytes in
                        for _ in 0..<Int.random(in: 1...2, using: &random) {
                            let index = Int.random(in: 0..<bytes.count, using: &random)
                            bytes[index] =
                                Bool.random(using: &random) ? .random(in: 0...255, using: &random) : bytes[index] ^ 1
                        }
                    }
                }
                switch Int.random(in: 0..<6, using: &random) {
                case 0: if buffers.sequence != nil { damage(&buffers.sequence!) }
                case 1: damage(&buffers.picture!)
                case 2: damage(&buffers.slices[0])
                case 3:
                    let count = Int.random(in: 1...24, using: &random)
                    let bytes = [0, 0, 1] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                    let type = UInt32.random(in: 1...4, using: &random)
                    buffers.packed = [
                        (
                            type, 8 * bytes.count - Int.random(in: 0...7, using: &random), bytes,
                            Bool.random(using: &random)
                        )
                    ]
                case 4: buffers.misc = [(0..<40).map { _ in UInt8.random(in: 0...9, using: &random) }]
                default: break
                }
                if stream.encode(buffers) != nil { accepted += 1 } else { refused += 1 }
            }
        }
        #expect(accepted > 20 && refused > 20, "\(accepted) accepted, \(refused) refused")
    }
}
