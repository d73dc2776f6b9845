import FaultDriver
import Testing

/// Tests the rules of VAENC_FAULT.
@Suite struct FaultPlanTests {
    @Test func documentedRulesAreParsed() throws {
        let plan = try FaultPlan(
            reading: "# all; vaEndPicture@37=status:24; vaSyncBuffer@5=delay:3000;vaMapBuffer @ 9 = corrupt ; vaCreateBuffer@4+=lost:0x3;"
                + "vaUnmapBuffer@*/50=corrupt:silent; vaTerminate@*=hang; vaMapBuffer2@10=corrupt:0x8000; vaCreateContext@2=abort")
        func fault(_ call: String, _ number: Int) -> FaultPlan.Fault? { plan.fault(call, number: number) }
        #expect(fault("vaEndPicture", 36) == nil)
        #expect(fault("vaEndPicture", 37) == .status(24))
        #expect(fault("vaEndPicture", 38) == nil)
        #expect(fault("vaSyncBuffer", 5) == .delay(milliseconds: 3000))
        #expect(fault("vaMapBuffer", 9) == .corrupt(.marked))
        #expect(fault("vaMapBuffer", 10) == .corrupt(.flags(0x8000)))
        #expect(fault("vaCreateBuffer", 3) == nil)
        #expect(fault("vaCreateBuffer", 4) == .lost(3))
        #expect(fault("vaCreateBuffer", 400) == .lost(3))
        #expect(fault("vaUnmapBuffer", 49) == nil)
        #expect(fault("vaUnmapBuffer", 100) == .corrupt(.silent))
        #expect(fault("vaCreateContext", 2) == .abort)
        #expect(fault("vaTerminate", 1) == .delay(milliseconds: 86_400_000))
    }

    @Test(arguments: [
        "vaEndPicture", "vaEndPicture@", "vaEndPicture@3", "vaEndPicture@0=hang", "vaEndPicture@-1=hang",
        "vaEndPicture@3=status", "vaEndPicture@3=status:0", "vaEndPicture@3=status:x", "vaEndPicture@*/0=hang",
        "vaEndPicture@3=explode", "vaEndPictures@3=hang", "vaEndPicture@3=delay:-1", "vaEndPicture@3=corrupt:loudly",
        "vaEndPicture@3=lost:0", "vaEndPicture@3=abort:6", "vaEndPicture@1=hang; nonsense", "vaEndPicture@99999999999999999999=hang",
    ])
    func unreadableRulesAreRefused(_ text: String) {
        #expect(throws: FaultPlan.Unreadable.self) { try FaultPlan(reading: text) }
    }

    @Test func displaysWithTheSameRulesShareTheirCounts() throws {
        let rules = "# counting; vaEndPicture@2=hang"
        let plan = try FaultPlan(reading: rules)
        let first = CallCounter.of(rules, plan)
        #expect(first.next("vaEndPicture") == nil)
        #expect(CallCounter.of(rules, plan).next("vaEndPicture") == .delay(milliseconds: 86_400_000))
        #expect(CallCounter.of("# another", FaultPlan()).next("vaEndPicture") == nil)
        #expect(first.report == "vaEndPicture 2\n")
    }
}
