import CLibAV
import CV4L2
import Glibc
import LibAV
import Threads
import VideoBase

/// A device of libavdevice, and the decoder of its packets. One thread at a time. Reading blocks.
@safe final class SoundDevice {
    // SAFETY: created in init, freed in deinit, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var decoder: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private(set) var frame: UnsafeMutablePointer<AVFrame>?
    private var stream: Int32 = 0
    /// The capture time of the last packet, in microseconds on the system's real-time clock; nil if the packet has
    /// none.
    private var packetTime: Int64?
    private let name: String
    /// Whether the device returns samples as fast as they are read, as lavfi does.
    let isImmediate: Bool

    var rate: Int { unsafe Int(decoder?.pointee.sample_rate ?? 0) }
    var channels: Int { unsafe Int(decoder?.pointee.ch_layout.nb_channels ?? 0) }

    init(_ name: String) throws {
        let av = unsafe try LibAV.load([.device, .format, .codec])
        unsafe self.av = unsafe av
        self.name = name
        _ = unsafe av.pointee.avdevice_register_all!()
        let (format, device) = unsafe try Self.parse(name, av)
        isImmediate = unsafe String(cString: format.pointee.name) == "lavfi"
        vaenc_silence_alsa()
        // Mono microphones reject two channels, and some devices reject settings that they do not support.
        let attempts: [[(String, String)]] =
            isImmediate
            ? [[]]
            : [
                [("channels", "1")], [("channels", "2")], [("channels", "1"), ("sample_rate", "44100")],
                [("channels", "2"), ("sample_rate", "44100")],
            ]
        var code: Int32 = -1
        _ = LibAV.takeLog()
        for options in attempts {
            var dictionary: OpaquePointer?
            defer { unsafe av.pointee.av_dict_free!(&dictionary) }
            for (key, value) in options {
                guard unsafe av.pointee.av_dict_set!(&dictionary, key, value, 0) >= 0 else { throw VaencError.noMemory("for \(name)") }
            }
            code = unsafe av.pointee.avformat_open_input!(&context, device, format, &dictionary)
            if code >= 0 { break }
        }
        if code < 0 { throw unsafe Self.failure(name, code: code, av: av) }
        try open()
    }

    /// Splits a name: `alsa:hw:1` is the device `hw:1` of the format `alsa`.
    private static func parse(_ name: String, _ av: UnsafePointer<VaencLibAV>) throws(VaencError) -> (UnsafePointer<AVInputFormat>, String) {
        let (format, device) = split(name)
        guard let found = unsafe av.pointee.av_find_input_format!(format) else {
            throw VaencError(
                .unavailable, "libavdevice does not support \(format) (\(name))",
                remedy: "use alsa, pulse or lavfi, if this FFmpeg supports it")
        }
        return (unsafe found, device.isEmpty ? "default" : device)
    }

    private static func split(_ name: String) -> (format: String, device: String) {
        let known = ["alsa", "pulse", "lavfi", "jack", "oss", "sndio"]
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, known.contains(String(parts[0])) else { return ("alsa", name) }
        return (String(parts[0]), String(parts[1]))
    }

    private static func failure(_ name: String, code: Int32, av: UnsafePointer<VaencLibAV>) -> VaencError {
        let words = unsafe LibAV.message(code, av)
        switch vaenc_errno_of(code) {
        case EACCES, EPERM:
            return VaencError(
                .noPermission, "no permission to use the sound device \(name)",
                remedy: "add yourself to the group audio, and log in again")
        case EBUSY:
            return VaencError(
                .unavailable, "the sound device \(name) is in use",
                remedy: "close the program that uses it, or use pulse:default")
        default:
            return VaencError(.unavailable, "the sound device \(name) cannot be opened (\(words))", remedy: remedy(name))
        }
    }

    /// Returns the remedy for a device that cannot be opened, such as the command that lists the devices.
    private static func remedy(_ name: String) -> String {
        switch split(name).format {
        case "lavfi": "check the filter graph; `man ffmpeg-filters` describes filters"
        case "pulse": "`pactl list sources short` lists the sound devices"
        case "alsa": "`arecord -L` lists the sound devices"
        default: "check its name, and check that its server runs"
        }
    }

    private func open() throws {
        let index = unsafe av.pointee.av_find_best_stream!(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
        guard index >= 0, let parameters = unsafe context?.pointee.streams[Int(index)]?.pointee.codecpar,
            let codec = unsafe av.pointee.avcodec_find_decoder!(parameters.pointee.codec_id)
        else {
            throw VaencError(.unavailable, "the sound device \(name) delivers no sound", remedy: "use another device")
        }
        stream = index
        unsafe decoder = av.pointee.avcodec_alloc_context3!(codec)
        unsafe packet = av.pointee.av_packet_alloc!()
        unsafe frame = av.pointee.av_frame_alloc!()
        guard let opened = unsafe decoder, unsafe packet != nil, unsafe frame != nil else {
            throw VaencError.noMemory("for sound")
        }
        guard unsafe av.pointee.avcodec_parameters_to_context!(opened, parameters) >= 0 else { throw VaencError.noMemory("for sound") }
        let code = unsafe av.pointee.avcodec_open2!(opened, codec, nil)
        guard code >= 0, (1...768_000).contains(rate), (1...64).contains(channels) else {
            throw VaencError(
                .unavailable, "the sound of the device \(name) cannot be decoded",
                remedy: "use another device")
        }
    }

    deinit {
        unsafe av.pointee.avcodec_free_context!(&decoder)
        unsafe av.pointee.av_packet_free!(&packet)
        unsafe av.pointee.av_frame_free!(&frame)
        unsafe av.pointee.avformat_close_input!(&context)
    }

    /// Reads a packet and passes it to the decoder. Blocks. Returns false at the end.
    func read() throws -> Bool {
        let code = unsafe av.pointee.av_read_frame!(context, packet)
        if code == vaenc_averror_again() {
            usleep(1000)
            return true
        }
        if code == vaenc_averror_eof() || [ENODEV, EIO, EBADF].contains(vaenc_errno_of(code)) { return false }
        guard code >= 0, let packet = unsafe packet else { throw unsafe Self.failure(name, code: code, av: av) }
        defer { unsafe av.pointee.av_packet_unref!(packet) }
        guard unsafe packet.pointee.stream_index == stream else { return true }
        let time = unsafe packet.pointee.pts
        packetTime = time == vaenc_no_pts() ? nil : time
        _ = unsafe av.pointee.avcodec_send_packet!(decoder, packet)
        return true
    }

    /// Decodes the next samples into `frame`. Returns the number of samples of a channel, or nil if the packet is used
    /// up.
    func nextFrame() throws -> Int? {
        unsafe av.pointee.avcodec_receive_frame!(decoder, frame) >= 0 ? unsafe Int(frame?.pointee.nb_samples ?? 0) : nil
    }

    /// Returns the capture time of the frame's first sample, in nanoseconds on the monotonic clock. The packet's time
    /// is used if it is plausible: the demuxers of ALSA and Pulse take it from the real-time clock. Else the time is
    /// derived from the packet's arrival.
    func captureTime() -> Int64 {
        let now = MonotonicClock.nanoseconds
        let count = unsafe Int64(frame?.pointee.nb_samples ?? 0)
        let arrived = now - count * 1_000_000_000 / Int64(max(rate, 1))
        guard let packetTime else { return arrived }
        var system = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &system)
        let age = (Int64(system.tv_sec) * 1_000_000 + Int64(system.tv_nsec) / 1000).subtractingReportingOverflow(packetTime).partialValue
        return age >= 0 && age < 10_000_000 ? now - age * 1000 : arrived
    }
}

/// Converts samples to 32-bit floating point, and adds or removes a few samples to correct clock drift.
@safe final class DriftResampler {
    // SAFETY: created in init, freed in deinit, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: OpaquePointer?
    private let rate: Int
    private let channels: Int

    init(_ device: SoundDevice) throws {
        unsafe av = try LibAV.load([.codec, .resample])
        (rate, channels) = (device.rate, device.channels)
    }

    deinit { unsafe av.pointee.swr_free!(&context) }

    private var correction = 0

    /// Sets the number of samples to add over the next two seconds; a negative number removes samples.
    func correct(by samples: Int) { correction = samples }

    func convert(_ frame: UnsafeMutablePointer<AVFrame>?) throws -> [UInt8] {
        guard let frame = unsafe frame else { return [] }
        if unsafe context == nil {
            var layout = unsafe frame.pointee.ch_layout
            var same = unsafe layout
            let code = unsafe av.pointee.swr_alloc_set_opts2!(
                &context, &layout, AV_SAMPLE_FMT_FLT, Int32(rate), &same,
                AVSampleFormat(rawValue: frame.pointee.format), Int32(rate), 0, nil)
            guard code >= 0, unsafe av.pointee.swr_init!(context) >= 0 else {
                throw VaencError(.internalFault, "the sound cannot be converted")
            }
        }
        // The first call enables resampling, which sound without drift does not need.
        if correction != 0 { _ = unsafe av.pointee.swr_set_compensation!(context, Int32(correction), Int32(2 * rate)) }
        let room = unsafe Int(frame.pointee.nb_samples) + 256 + rate / 50
        var bytes = [UInt8](repeating: 0, count: room * channels * 4)
        // SAFETY: the buffer has space for `room` samples of all channels, and the frame contains nb_samples samples.
        let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var out: UnsafeMutablePointer<UInt8>? = buffer.baseAddress
            let input = unsafe UnsafeMutableRawPointer(frame.pointee.extended_data!).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
            return unsafe av.pointee.swr_convert!(context, &out, Int32(room), input, frame.pointee.nb_samples)
        }
        guard count >= 0 else { throw VaencError(.internalFault, "the sound cannot be converted") }
        bytes.removeLast(bytes.count - Int(count) * channels * 4)
        return bytes
    }
}
