import EncodePlanning
import VAAPI
import VideoBase

/// Converts plans into VA buffers and submits the pictures to the device.
struct PictureSubmitter: Sendable {
    private let writer: PictureWriter
    private var adapter: any CodecAdapter
    private var clock: PictureClock.Counter

    /// Creates a submitter.
    ///
    /// - Parameter picturesSinceBuffering: The number of pictures of the stream since the latest buffering period
    ///   began.
    init(
        _ settings: EncodeSettings, adapter: any CodecAdapter, objects: DeviceObjects,
        picturesSinceBuffering: Int = 0
    ) {
        clock = PictureClock.Counter(sinceBuffering: picturesSinceBuffering)
        writer = PictureWriter(settings, adapter: adapter, objects: objects)
        self.adapter = adapter
    }

    /// Assigns the picture's numbers and submits it to the device.
    mutating func submit(_ job: PictureJob, into output: CodedBuffer) throws -> InFlightPicture {
        let numbered = adapter.number(job.plan)
        let clock = self.clock.next(job.plan, reorderDepth: writer.reorderDepth)
        let submitted = try writer.encode(job, into: output, syntax: numbered, clock: clock, decision: job.decision)
        return InFlightPicture(job, submitted, clock: clock, numbered: numbered, writer: writer)
    }
}

/// Writes the buffers of pictures whose numbers are known.
final class PictureWriter: Sendable {
    private let settings: EncodeSettings
    private let adapter: any CodecAdapter
    private let objects: DeviceObjects

    init(_ settings: EncodeSettings, adapter: any CodecAdapter, objects: DeviceObjects) {
        self.settings = settings
        self.adapter = adapter
        self.objects = objects
    }

    var reorderDepth: Int { settings.structure.reorderDepth }

    /// Submits the buffers in the order that drivers know from other clients: sequence, settings, picture, headers,
    /// slices.
    func encode(
        _ job: PictureJob, into output: CodedBuffer, syntax numbered: any PictureSyntax, clock: PictureClock,
        decision: RateSession.Decision
    ) throws -> SubmittedPicture {
        let (plan, frame) = (job.plan, job.frame)
        var picture = Picture(begin: objects.context, on: frame.surface, frame: frame.index)
        if plan.type == .idr { try picture.render(adapter.sequence) }
        for parameters in decision.parameters { try picture.render(parameters) }
        for parameters in MiscParameters.list(plan, options: frame.options, settings: settings) { try picture.render(parameters) }
        // DriverQuirk.crashesWithoutPictureParameters.
        try numbered.renderParameters(objects.reconstructions, output, into: &picture)
        try renderHeaders(adapter.leading(plan, options: frame.options, clock: clock, delay: nil), plan, into: &picture)
        try numbered.renderSlices(
            qp: decision.qp, objects.reconstructions, packed: objects.packed.contains(.slice), into: &picture)
        return try picture.end(into: output)
    }

    /// Submits the packed headers that the driver accepts. The others are inserted after the encode.
    private func renderHeaders(_ leading: LeadingUnits, _ plan: FramePlan, into picture: inout Picture) throws {
        let information = leading.information.map { [$0] } ?? []
        let delimiter = leading.delimiter.map { [$0] } ?? []
        // Drivers accept parameter sets only with IDR pictures.
        if plan.type.isKey, objects.packed.contains(.sequence) {
            try picture.render(PackedHeader(.sequence, units: delimiter + leading.parameterSets))
            if !information.isEmpty, objects.packed.contains(.rawData) {
                try picture.render(PackedHeader(.rawData, units: information))
            }
        } else if leading.parameterSets.isEmpty, !leading.units.isEmpty, objects.packed.contains(.rawData) {
            try picture.render(PackedHeader(.rawData, units: delimiter + information))
        }
    }
}
