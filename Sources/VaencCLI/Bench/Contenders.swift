import Glibc
import VAAPI
import Vaenc

/// An encoder to measure, and its command line for a raw NV12 file.
struct Contender {
    var path: String
    var encoder: String
    var codec: VideoCodec
    /// Returns the command line for a clip at a QP. The command writes Annex B to standard output.
    var command: @Sendable (_ clip: BenchClip, _ qp: Int) -> [String]
    var environment: [String: String?] = [:]
}

/// The encoders that this machine offers, and the X server that FFmpeg needs to reach the reference driver.
final class Contenders {
    private(set) var all: [Contender] = []
    /// The encoders that were left out, with the reason.
    private(set) var notes: [String] = []
    private(set) var deviceName = ""
    private(set) var deviceKind = DeviceKind.software
    /// The path of the render node; nil if there is none.
    private(set) var devicePath: String?
    private var server: pid_t?
    /// The read end of the server's output. It stays open: the server exits if it cannot write its whole line.
    private var serverOutput: Int32?
    private let resources: BenchResources

    init(
        selection: DeviceSelector, requireHardware: Bool, preset: Int?, withFFmpeg: Bool, resources: BenchResources
    ) throws {
        self.resources = resources
        var probe = EncoderConfiguration(size: VideoSize(width: 640, height: 480))
        let session = try CompressionSession(configuration: probe, device: selection, requireHardware: requireHardware) { _ in }
        let description = try session.encoderDescription
        session.invalidate()
        (deviceName, deviceKind, devicePath) = (description.driver, description.kind, description.path)
        let program = Self.program
        let presetArguments = preset.map { ["--preset", String($0)] } ?? []
        if description.kind != .software {
            let device = description.path ?? "reference"
            for codec in VideoCodec.allCases {
                probe.codec = codec
                do {
                    let hardware = try CompressionSession(
                        configuration: probe, device: selection, requireHardware: requireHardware
                    ) { _ in }
                    defer { hardware.invalidate() }
                    try hardware.prepare()
                } catch {
                    notes.append("vaenc \(codec.rawValue) is left out: \(error)")
                    continue
                }
                all.append(
                    Contender(path: description.kind.rawValue, encoder: "vaenc \(codec.rawValue)", codec: codec) { clip, qp in
                        [program, "encode"] + clip.arguments
                            + ["--device", device, "--codec", codec.rawValue, "--qp", String(qp), "-o", "-"] + presetArguments
                    })
            }
            if withFFmpeg { try addFFmpeg(description) }
        } else if let notice = session.choice.notice {
            notes.append(notice)
        }
        for (codec, name) in [(VideoCodec.h264, "libx264"), (.hevc, "libx265")] {
            probe.codec = codec
            do {
                let software = try CompressionSession(configuration: probe, device: .software) { _ in }
                try software.prepare()
                software.invalidate()
            } catch {
                notes.append("\(name) is left out: \(error)")
                continue
            }
            all.append(
                Contender(path: "software", encoder: name, codec: codec) { clip, qp in
                    [program, "encode"] + clip.arguments
                        + ["--device", "software", "--codec", codec.rawValue, "--bframes", "0", "--qp", String(qp), "-o", "-"]
                        + presetArguments
                })
        }
    }

    func stop() {
        if let server { resources.stop(server) }
        if let serverOutput { close(serverOutput) }
        (server, serverOutput) = (nil, nil)
    }

    private static var program: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        return count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : "vaenc"
    }

    private func addFFmpeg(_ description: EncoderDescription) throws {
        guard ChildProcess.exists("ffmpeg") else {
            notes.append("ffmpeg is left out: it is not installed")
            return
        }
        var environment: [String: String?] = [:]
        let device: String
        if let path = description.path {
            device = "vaapi=va:\(path)"
        } else {
            guard let folder = Devices.referenceDriverFolder, let display = try startXServer() else { return }
            device = "vaapi=va:,connection_type=x11"
            environment = ["DISPLAY": display, "LIBVA_DRIVERS_PATH": folder, "LIBVA_DRIVER_NAME": "libvaenc"]
        }
        // FFmpeg runs only the codecs that vaenc can encode on this device.
        for codec in Set(all.map(\.codec)).sorted(by: { $0.rawValue < $1.rawValue }) {
            let name = codec.rawValue
            all.append(
                Contender(
                    path: "ffmpeg", encoder: "ffmpeg \(name)_vaapi", codec: codec,
                    command: { clip, qp in
                        [
                            "ffmpeg", "-v", "error", "-nostdin", "-init_hw_device", device, "-f", "rawvideo", "-pix_fmt", "nv12",
                            "-video_size", "\(clip.size.width)x\(clip.size.height)", "-framerate", clip.frameRate.description,
                            "-i", clip.path, "-vf", "hwupload", "-filter_hw_device", "va", "-c:v", "\(name)_vaapi", "-rc_mode", "CQP",
                            "-bf", "0", "-qp", String(qp), "-g", String(clip.gop), "-f", name, "pipe:1",
                        ]
                    }, environment: environment))
        }
    }

    /// Returns the name of an X display: the user's own, or a virtual one that is started for this run.
    private func startXServer() throws -> String? {
        if let display = unsafe getenv("DISPLAY") { return unsafe String(cString: display) }
        guard ChildProcess.exists("Xvfb") else {
            notes.append(
                "ffmpeg is left out: it needs an X server for the reference driver, and there is neither DISPLAY nor Xvfb")
            return nil
        }
        let started = try ChildProcess.start(
            ["Xvfb", "-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", "64x64x24"], resources: resources)
        server = started.pid
        serverOutput = started.output
        // Xvfb writes the number and the end of its line separately.
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while text.count < 16, unsafe read(started.output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { text.append(byte) }
        guard !text.isEmpty else {
            notes.append("ffmpeg is left out: Xvfb did not start")
            return nil
        }
        return ":" + String(decoding: text.filter { $0 > 32 }, as: UTF8.self)
    }
}
