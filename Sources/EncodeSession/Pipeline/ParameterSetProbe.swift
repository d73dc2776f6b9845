import EncodePlanning
import VAAPI
import VideoBase

/// Finds the parameter sets that a driver writes itself, because containers need them before the first packet. It
/// encodes one key frame and discards it.
enum ParameterSetProbe {
    /// Passes the driver's output to `assembler`.
    ///
    /// - Returns: The number of bytes in the key frame that the driver did not write.
    static func run(
        _ settings: EncodeSettings, adapter: any CodecAdapter, objects: DeviceObjects, inputs: InputPool,
        timeoutNanoseconds: UInt64, assembler: inout AccessUnitAssembler
    ) throws -> Int {
        guard let surface = objects.inputs.first, let output = objects.coded.first else { return 0 }
        var planner = FramePlanner(structure: settings.structure)
        var submitter = PictureSubmitter(settings, adapter: adapter, objects: objects)
        let frame = TakenFrame(
            index: 0, input: InputSurface(surface: surface), pool: inputs, timing: FrameTiming(presentation: .zero), taken: .now)
        let rate = RateSession(settings)
        var added = 0
        for plan in planner.add(forceKey: true) {
            let picture = try submitter.submit(plan, frame: frame, decision: rate.decide(plan), into: output)
            try picture.submitted.sync(timeoutNanoseconds: timeoutNanoseconds)
            var bytes: [UInt8] = []
            _ = try picture.submitted.read(appendingTo: &bytes)
            added -= bytes.count
            try assembler.assemble(&bytes, picture, delay: rate.initialDelay)
            added += bytes.count
        }
        return added
    }
}
