/// The task that draws pictures into a surface and fills the area around the first with the background color.
final class ProcessTask: PictureTask, @unchecked Sendable {
    /// A rectangle of the target outside the first picture. It is filled before the first picture is drawn.
    struct Bar {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    private let target: PixelArea
    private let color: BackgroundColor
    private let bars: [Bar]
    private let steps: [ProcessStep]
    private let counts: CopyCounts

    /// - Parameter inner: the target region of the first picture.
    init(
        _ target: PixelArea, inner: Driver.Rectangle, color: BackgroundColor, steps: [ProcessStep], counts: CopyCounts
    ) {
        self.target = target
        self.color = color
        self.steps = steps
        self.counts = counts
        let (width, height) = (target.layout.width, target.layout.height)
        let (right, bottom) = (inner.x + inner.width, inner.y + inner.height)
        bars = [
            Bar(x: 0, y: 0, width: width, height: inner.y), Bar(x: 0, y: bottom, width: width, height: height - bottom),
            Bar(x: 0, y: inner.y, width: inner.x, height: inner.height),
            Bar(x: right, y: inner.y, width: width - right, height: inner.height),
        ]
    }

    func run() {
        for (index, step) in steps.enumerated() {
            if index == 0 {
                for bar in bars { target.fill(x: bar.x, y: bar.y, width: bar.width, height: bar.height, with: color) }
            }
            step.run()
        }
    }

    func finish() { counts.processed += 1 }
}
