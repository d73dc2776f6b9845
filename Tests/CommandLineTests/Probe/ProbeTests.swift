import TestOracles
import Testing

/// `vaenc probe --verify`: each advertised mode is tried, and those that fail are named.
@Suite struct ProbeTests {
    private func probe(
        _ arguments: [String] = ["--json"], personality: String? = nil, fault: String? = nil
    ) throws -> (result: ProcessRunner.Result, capabilities: [JSONValue]) {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["probe", "--device", "reference", "--verify"] + arguments,
            environment: ["VAENC_REFERENCE_PERSONALITY": personality, "VAENC_FAULT": fault])
        let devices = JSONValue(result.output)?["devices"]?.array ?? []
        return (result, devices.first?["capabilities"]?.array ?? [])
    }

    private func verified(_ capability: JSONValue) -> [String: String] {
        guard case .object(let members)? = capability["verified"] else { return [:] }
        return members.compactMapValues(\.string)
    }

    /// A personality with the fewest modes, for tests in which the modes do not matter.
    private static let few = "i965-5916"

    /// The reference driver and its personalities support everything that they advertise. ProbePersonalityTests tries
    /// more personalities.
    @Test(arguments: [nil, "iHD25nonfree-7D55", "i965-5916"])
    func advertisedModesWork(_ personality: String?) throws { try expectModesWork(personality) }

    fileprivate func expectModesWork(_ personality: String?) throws {
        let (result, capabilities) = try probe(personality: personality)
        #expect(result.status == 0, "\(result.errors)")
        var tried: [String: Int] = [:]
        for capability in capabilities {
            let verified = verified(capability)
            let name = "\(capability["codec"]?.string ?? "") \(capability["profile"]?.string ?? "")"
            let isOurs = ["h264 High", "h264 Main", "h264 Constrained Baseline", "hevc Main", "hevc Main 10"].contains(name)
            let encodes = isOurs && capability["entrypoint"]?.string?.hasPrefix("EncSlice") == true
            #expect(verified.isEmpty != encodes, "\(capability)")
            guard encodes else { continue }
            tried[name, default: 0] += verified.count
            #expect(capability["bitDepths"]?.array.compactMap(\.int) == (name == "hevc Main 10" ? [10] : [8]), "\(capability)")
            #expect(verified.values.allSatisfy { $0 == "ok" }, "\(verified)")
            let modes = capability["rateControl"]?.array.compactMap(\.string) ?? []
            #expect(!modes.isEmpty && Set(modes).isSubset(of: verified.keys), "\(verified)")
            #expect((verified["bFrames"] != nil) == (capability["bFrames"]?.bool == true))
            #expect((verified["roi"] != nil) == ((capability["roi"]?.int ?? 0) > 0))
        }
        #expect(tried["h264 High", default: 0] >= 3)
        let hasHEVC = personality?.hasPrefix("i965") != true
        #expect(tried["hevc Main", default: 0] >= (hasHEVC ? 1 : 0) && tried["hevc Main 10", default: 0] >= (hasHEVC ? 1 : 0))
    }

    /// A driver that fails once fails one mode. The mode, the failing call and its status are named.
    @Test func failureIsNamedForItsMode() throws {
        let (result, capabilities) = try probe(personality: Self.few, fault: "vaCreateContext@3=status:2")
        #expect(result.status == 75)
        let failures = capabilities.flatMap { verified($0).filter { $0.value != "ok" } }
        #expect(failures.count == 1, "\(failures)")
        #expect(failures.first?.value.contains("vaCreateContext failed") == true, "\(failures)")
        #expect(result.errorLines.count == 1 && result.errors.contains(failures.first?.key ?? "?"), "\(result.errors)")
    }

    /// Every picture fails.
    @Test func everyFailingModeIsNamed() throws {
        let (result, capabilities) = try probe(personality: Self.few, fault: "vaEndPicture@*=status:24")
        #expect(result.status == 75)
        let outcomes = capabilities.flatMap { verified($0).values }
        #expect(outcomes.count > 5 && outcomes.allSatisfy { $0.contains("vaEndPicture failed") }, "\(outcomes)")
    }

    /// Coded data that the driver marks as corrupt is a failure.
    @Test func corruptOutputIsAFailure() throws {
        let (result, capabilities) = try probe(personality: Self.few, fault: "vaMapBuffer@*=corrupt")
        #expect(result.status == 75)
        #expect(capabilities.flatMap { verified($0).values }.allSatisfy { $0 != "ok" })
    }

    /// A driver that aborts its process fails no other mode, and the table and the other devices are still printed.
    @Test(arguments: ["vaCreateContext@2=abort", "vaEndPicture@*/40=abort", "vaCreateContext@*=abort"])
    func abortingDriverFailsOnlyItsModes(_ fault: String) throws {
        let (result, capabilities) = try probe(personality: Self.few, fault: fault)
        #expect(result.status == 75, "\(result.status): \(result.errors)")
        let outcomes = capabilities.flatMap { verified($0).values }
        let aborted = outcomes.filter { $0.contains("SIGABRT") && $0.contains("abort in \(fault.prefix { $0 != "@" })") }
        #expect(outcomes.count > 5 && aborted.count == outcomes.count { $0 != "ok" }, "\(outcomes)")
        #expect(fault.contains("@*=") ? aborted.count == outcomes.count : aborted.count < outcomes.count, "\(outcomes)")
        #expect(result.errorLines.count == 1, "\(result.errors)")
    }

    /// The driver aborts during capability queries. All devices are still listed.
    @Test func abortingQueryStillListsDevices() throws {
        for fault in ["vaInitialize@*=abort", "vaQueryConfigProfiles@*=abort"] {
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["probe", "--json"], environment: ["VAENC_FAULT": fault])
            #expect(result.status == 0, "\(result.errors)")
            let devices = JSONValue(result.output)?["devices"]?.array ?? []
            let reference = devices.first { $0["kind"]?.string == "reference" }
            #expect(reference?["usable"]?.bool == false && reference?["why"]?.string?.contains("SIGABRT") == true, "\(result.output)")
            #expect(devices.contains { $0["kind"]?.string == "software" && $0["usable"]?.bool == true })
        }
    }

    @Test func tableListsVerifiedModes() throws {
        let sound = try probe([]).result
        #expect(sound.status == 0 && sound.output.contains("tried H.264 High EncSlice: ") && !sound.output.contains("FAILED"))
        for profile in ["Main", "Main 10"] { #expect(sound.output.contains("tried HEVC \(profile) EncSlice: "), "\(sound.output)") }
        #expect(sound.output.contains("Default: reference, HEVC ("), "\(sound.output)")
        let broken = try probe([], personality: Self.few, fault: "vaCreateContext@1=status:2").result
        #expect(broken.status == 75)
        #expect(broken.output.split(separator: "\n").filter { $0.contains("FAILED: vaCreateContext failed") }.count == 1)
    }

    /// Without the option, no mode is tried or printed.
    @Test func verificationNeedsTheOption() throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["probe", "--device", "reference", "--json"],
            environment: ["VAENC_FAULT": "vaCreateContext@*=status:2"])
        #expect(result.status == 0 && !result.output.contains("verified"))
    }
}

/// The modes of each generation of imitated drivers.
@Suite struct ProbePersonalityTests {
    @Test(arguments: ["iHD-9A49", "radeonsi-navi21", "radeonsi25-navi31"]) func advertisedModesOfPersonalitiesWork(_ personality: String) throws {
        try ProbeTests().expectModesWork(personality)
    }
}
