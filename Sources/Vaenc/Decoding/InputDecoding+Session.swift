import DecodeSession
import EncodeSession
public import MediaFiles
import Threads
import VAAPI
import VideoBase

extension InputDecoding {
    /// Lets the device that encodes the pictures also decode them, so that they stay in its memory. Call this
    /// initializer before the source's first picture is read.
    ///
    /// If the device cannot decode the pictures in the form in which they are encoded, libavcodec decodes, and
    /// `backend` has the reason. A camera's pictures are read by the encoder's device in place if possible;
    /// `captureMemory` has the result.
    ///
    /// - Throws: `badInput` if the source cannot be decoded.
    public convenience init(_ source: any FrameSource, for group: SessionGroup) throws {
        if let camera = source as? CameraSource {
            self.init(camera: camera, for: group)
            return
        }
        guard let codec = (source as? DecodingSource)?.codec else {
            self.init(source, .software(Self.otherInput(source)))
            return
        }
        do {
            // The pictures have the frames' size, and are scaled for the sessions of other sizes afterwards.
            let session = group.sessions.first { $0.configuration.size == source.info.size } ?? group.sessions.first
            if let (device, scaling) = try session?.decodeDevice(for: source.info, codec) {
                try self.init(source, on: device, scaling: scaling)
                return
            }
            self.init(source, .software("the encoder runs in software"))
        } catch let rejection as Rejection {
            self.init(source, .software(rejection.why))
        } catch let error as any DescribedError where error.category != .badInput {
            self.init(source, .software("\(error)"))
        }
    }

    /// The reason why the encoder's device does not decode.
    fileprivate struct Rejection: Error {
        var why: String
    }
}

extension CompressionSession {
    /// Returns the session's device and the scaler on it; nil if the encoder runs in software.
    fileprivate func decodeDevice(
        for info: SourceInfo, _ codec: VideoCodec
    ) throws -> (device: DecodeDevice, scaling: InputScaling)? {
        guard let encoder = core.state.withLock({ $0.stage }).encoder as? HardwareEncoder else { return nil }
        let depth = try encoder.encoderDescription.profile.bitDepth
        guard info.bitDepth == depth, [.i420, .nv12, .i420p10, .p010].contains(info.nativeFormat) else {
            throw InputDecoding.Rejection(why: "the CPU converts the samples to \(depth)-bit 4:2:0")
        }
        let device = try DecodeDevice(encoder.display)
        if let why = try device.rejectionReason(of: codec, bitDepth: depth) { throw InputDecoding.Rejection(why: why) }
        let scaling = InputScaling(
            DeviceScaler.Output(
                size: info.size, surface: encoder.surfaceSize.covering(info.size), format: depth > 8 ? .p010 : .nv12, color: info.color))
        if info.size != info.nativeSize {
            do { try scaling.prepare(on: device) } catch {
                throw InputDecoding.Rejection(why: "the CPU scales the pictures: \(error)")
            }
        }
        return (device, scaling)
    }
}

extension VideoSize {
    /// Returns a size of whole blocks that covers a picture, if this size does not.
    fileprivate func covering(_ picture: VideoSize) -> VideoSize {
        width >= picture.width && height >= picture.height ? self : picture.aligned(to: 16)
    }
}
