import Capture
import MediaFiles
import Preview
import Synchronization
import Vaenc

/// A window that shows the pictures that are encoded from a camera, limited to the size of the screen.
///
/// If the window is closed or fails, the recording continues.
final class CameraPreview: Sendable {
    private struct State {
        var window: PreviewWindow?
        var shaper: FrameShaper?
        var picture: SystemPixelBuffer?
        var source: CaptureInfo?
        var notice: String?
    }

    private let state = Mutex(State())
    /// The size of the encoded pictures; nil for the size of the first camera's pictures.
    private let outputSize: VideoSize?
    private let fit: FrameFit

    /// Checks that a window can be shown.
    ///
    /// - Throws: `unavailable` without SDL2 or a display.
    init(of options: SourceOptions) throws {
        try PreviewWindow.check()
        (outputSize, fit) = (options.outputSize, options.fit)
    }

    /// The reason why the window ended; nil if it did not.
    var notice: String? { state.withLock { $0.notice } }

    func show(_ frame: CapturedFrame, _ info: CaptureInfo) {
        state.withLock { state in
            guard state.notice == nil else { return }
            do {
                try show(frame, info: info, state: &state)
            } catch {
                state.notice = "the preview ended: \(error)"
                state.window?.close()
            }
        }
    }

    private func show(_ frame: CapturedFrame, info: CaptureInfo, state: inout State) throws {
        let size = state.picture?.size ?? PreviewWindow.fitting(outputSize ?? frame.size)
        let window = try state.window ?? PreviewWindow(title: "vaenc: \(info.name)", size: size)
        state.window = window
        guard window.isOpen else {
            state.notice = "the preview was closed: the recording continued"
            return
        }
        let picture = try state.picture ?? SystemPixelBuffer(format: .nv12, size: size)
        state.picture = picture
        if state.source != info {
            state.source = info
            window.setTitle("vaenc: \(info.name)")
            // The window shows BT.601 in limited range. Pictures of later cameras are scaled to the first one's size.
            state.shaper = FrameShaper(
                source: frame.size, aspect: Rational(1, 1), color: info.color,
                target: ColorDescription(primaries: 1, transfer: 1, matrix: 6, fullRange: false), output: size, fit: fit)
        }
        unsafe try frame.withUnsafePlanes { source in
            unsafe try picture.withUnsafePlanes { planes in
                unsafe try state.shaper?.shape(source, to: planes)
                unsafe window.show(planes)
            }
        }
    }

    func close() { state.withLock { $0.window?.close() } }
}
