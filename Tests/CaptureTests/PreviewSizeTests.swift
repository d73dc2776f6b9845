import Preview
import Testing
import VideoBase

@Suite struct PreviewSizeTests {
    @Test func previewSizesFitTheScreen() {
        #expect(PreviewWindow.fitting(VideoSize(width: 640, height: 480)) == VideoSize(width: 640, height: 480))
        #expect(PreviewWindow.fitting(VideoSize(width: 1920, height: 1080)) == VideoSize(width: 960, height: 540))
        #expect(PreviewWindow.fitting(VideoSize(width: 3, height: 2000)) == VideoSize(width: 2, height: 720))
    }
}
