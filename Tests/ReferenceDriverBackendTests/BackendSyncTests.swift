import CVA
import Glibc
import ReferenceDriver
import TestOracles
import Testing

@Suite struct BackendSyncTests {
    /// On a busy machine the picture may be complete before the calls: then the calls are made with another one.
    @Test func waitsEndAtTheirTimeout() {
        var seen: [[VAStatus]] = []
        repeat {
            let stream = StreamClient.busy(width: 2560, height: 1440)
            let (client, table) = (stream.client, stream.client.table)
            var status = VASurfaceStatus(0)
            let waits = [
                table.vaSyncBuffer(client.context, stream.coded, 0),
                table.vaSyncSurface2(client.context, stream.sources[0], 1000),
                table.vaSyncSurface2(client.context, stream.reconstructions[0], 0),
            ]
            #expect(table.vaQuerySurfaceStatus(client.context, stream.sources[0], &status) == VA_STATUS_SUCCESS)
            seen.append(waits + [VAStatus(status.rawValue)])
            #expect(table.vaSyncSurface2(client.context, stream.sources[1], 0) == VA_STATUS_SUCCESS, "not in use")
            #expect(table.vaSyncBuffer(client.context, stream.coded, UInt64.max) == VA_STATUS_SUCCESS)
            #expect(table.vaSyncBuffer(client.context, stream.coded, 0) == VA_STATUS_SUCCESS)
            #expect(table.vaSyncSurface(client.context, stream.sources[0]) == VA_STATUS_SUCCESS)
            #expect(table.vaQuerySurfaceStatus(client.context, stream.sources[0], &status) == VA_STATUS_SUCCESS)
            #expect(status == VASurfaceReady)
        } while seen.last != Self.timeouts && seen.count < 10
        #expect(seen.last == Self.timeouts, "\(seen)")
    }

    private static let timeouts =
        [VAStatus](repeating: VA_STATUS_ERROR_TIMEDOUT, count: 3) + [VAStatus(VASurfaceRendering.rawValue)]

    @Test func mappingWaitsForThePicture() {
        let stream = StreamClient.busy(width: 2560, height: 1440)
        #expect(stream.client.coded(stream.coded)?.bytes.isEmpty == false)
        let again = StreamClient.busy(width: 2560, height: 1440)
        let image = again.client.derive(again.sources[0]).1
        #expect(again.client.map(image.buf).0 == VA_STATUS_SUCCESS)
        #expect(again.client.table.vaSyncBuffer(again.client.context, again.coded, 0) == VA_STATUS_SUCCESS)
    }

    @Test func objectsInUseMayBeDestroyed() {
        let stream = StreamClient.busy(width: 2560, height: 1440)
        let client = stream.client
        #expect(client.destroy(stream.coded) == VA_STATUS_SUCCESS)
        #expect(client.destroySurfaces(stream.sources + stream.reconstructions) == VA_STATUS_SUCCESS)
        #expect(client.table.vaDestroyConfig(client.context, stream.config) == VA_STATUS_SUCCESS)
        #expect(client.table.vaDestroyContext(client.context, stream.context) == VA_STATUS_SUCCESS)
        let other = StreamClient.busy(width: 2560, height: 1440)
        #expect(other.client.terminate() == VA_STATUS_SUCCESS)
    }

    @Test func concurrentContextsGiveTheSameStream() {
        let shared = Client()
        let reference = Self.encode(Client())
        #expect(reference.count > 100)
        let results = Results()
        let threads = (0..<6).map { index in
            Runner { results.add(Self.encode(index % 2 == 0 ? shared : Client())) }
        }
        for thread in threads { thread.join() }
        #expect(results.all == [[UInt8]](repeating: reference, count: 6))
    }

    private static func encode(_ client: Client) -> [UInt8] {
        let stream = StreamClient(client, width: 98, height: 66)
        return (0..<8).reduce(into: []) { bytes, _ in bytes += stream.encode(stream.buffers(cabac: true)) ?? [] }
    }

    @Test func surfaceMayBeAReferenceOfAnotherContext() throws {
        // One context codes the first picture, and another predicts from it at once, so its stream begins without an
        // IDR picture.
        let first = StreamClient.busy(Client(Environment(isStrict: false)), width: 2560, height: 1440)
        let second = StreamClient(first.client, width: 2560, height: 1440, codedBytes: 16 << 20)
        var buffers = second.buffers(cabac: true)
        buffers.picture!.pic_fields.bits.idr_pic_flag = 0
        buffers.picture!.frame_num = 1
        buffers.slices[0].slice_type = 0
        var frame = buffers.picture!.CurrPic
        frame.picture_id = first.reconstructions[0]
        buffers.picture!.ReferenceFrames.0 = frame
        buffers.slices[0].RefPicList0.0 = frame
        buffers.slices[0].pic_order_cnt_lsb = 2
        buffers.picture!.CurrPic.TopFieldOrderCnt = 2
        second.paint()
        #expect(second.send(buffers) == VA_STATUS_SUCCESS)
        let key = try #require(first.client.coded(first.coded)).bytes
        let predicted = try #require(second.client.coded(second.coded)).bytes
        #expect(predicted.count < key.count / 20, "the same picture again")
    }
}

/// A thread of the test, because driver calls block.
private final class Runner {
    private var handle = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        pthread_create(
            &handle, nil,
            {
                Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body(); return nil
            }, box.toOpaque())
    }

    func join() { pthread_join(handle, nil) }

    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

private final class Results: @unchecked Sendable {
    private var mutex = pthread_mutex_t()
    private(set) var all: [[UInt8]] = []
    init() { pthread_mutex_init(&mutex, nil) }
    func add(_ bytes: [UInt8]) {
        pthread_mutex_lock(&mutex)
        all.append(bytes)
        pthread_mutex_unlock(&mutex)
    }
}
