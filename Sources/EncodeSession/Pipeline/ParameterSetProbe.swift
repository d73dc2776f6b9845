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
        let (driverBytes, picture) = try keyFrame(
            settings, adapter: adapter, objects: objects, inputs: inputs, timeoutNanoseconds: timeoutNanoseconds)
        var bytes = driverBytes
        try assembler.assemble(&bytes, picture, delay: RateSession(settings).initialDelay)
        return bytes.count - driverBytes.count
    }

    /// Encodes the first input surface as a key frame. Returns the driver's output.
    static func keyFrame(
        _ settings: EncodeSettings, adapter: any CodecAdapter, objects: DeviceObjects, inputs: InputPool, timeoutNanoseconds: UInt64
    ) throws -> (bytes: [UInt8], picture: InFlightPicture) {
        var planner = FramePlanner(structure: settings.structure)
        var submitter = PictureSubmitter(settings, adapter: adapter, objects: objects)
        guard let surface = objects.inputs.first, let output = objects.coded.first, let plan = planner.add(forceKey: true).first else {
            throw VaencError(.internalFault, "there is no picture to try the driver with")
        }
        let frame = TakenFrame(
            index: 0, input: InputSurface(surface: surface), pool: inputs, timing: FrameTiming(presentation: .zero), taken: .now)
        let picture = try submitter.submit(PictureJob(plan, frame: frame, decision: RateSession(settings).decide(plan)), into: output)
        try picture.submitted.sync(timeoutNanoseconds: timeoutNanoseconds)
        var bytes: [UInt8] = []
        _ = try picture.submitted.read(appendingTo: &bytes)
        return (bytes, picture)
    }
}
