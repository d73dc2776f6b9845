import EncodePlanning
import Testing
import VideoBase

/// A receiver that misses pictures: it finds the pictures of the plan among those it has, and after a report all
/// pictures are correct again.
struct Receiver {
    var decoder: DecoderModel
    /// The coding indices of the correctly decoded pictures.
    private(set) var right: Set<Int> = []
    private(set) var faults: [String] = []
    private let structure: GOPStructure

    init(_ structure: GOPStructure, infersNothing: Bool = false) {
        self.structure = structure
        decoder = DecoderModel(maxFrameNum: 32, maxLsb: 64, max_num_ref_frames: structure.storage, allowsGaps: true)
        decoder.infersNothing = infersNothing
    }

    /// - Parameter mustBeRight: whether all pictures that the plan predicts from or releases must be present.
    mutating func receive(_ plan: FramePlan, _ numbers: H264PictureNumbers, mustBeRight: Bool) {
        let before = decoder.faults.count
        defer { if mustBeRight { faults += decoder.faults[before...].map { "\(plan.codingIndex): \($0)" } } }
        let seen = decoder.decode(plan.type, name: plan.codingIndex, numbers)
        let isRight =
            seen.list0 == plan.list0 && seen.list1 == plan.list1
            && (plan.list0 + plan.list1).allSatisfy { right.contains($0) }
        if isRight { right.insert(plan.codingIndex) }
        if mustBeRight, !isRight {
            faults.append(
                "\(plan.codingIndex) predicts from \(plan.list0) \(plan.list1), and \(seen.list0) \(seen.list1) is there")
        }
    }
}

@Suite struct LossPlanningTests {
    private func numbering(_ structure: GOPStructure) -> H264ReferenceState {
        H264ReferenceState(
            references: structure.storage, longTermReferences: structure.longTermReferences, log2_max_frame_num: 5,
            log2_max_pic_order_cnt_lsb: 6)
    }

    /// Removes the upper layers; from any picture on, one more layer may be decoded.
    @Test(arguments: 2...4) func lowerTemporalLayersDecodeAlone(_ layers: Int) {
        var faults: [String] = []
        var dropped = 0
        for interval in [nil, 7, 16, 21] {
            for references in 1...4 {
                for bFrames in layers == 2 ? [0, 1, 3] : [0] {
                    var structure = GOPStructure(keyInterval: interval, references: references)
                    structure.temporalLayers = layers
                    structure.bFrames = bFrames
                    structure = structure.consistent
                    var planner = FramePlanner(structure: structure)
                    var plans: [FramePlan] = []
                    for index in 0..<50 { plans += planner.add(forceKey: index == 19) }
                    plans += planner.finish()
                    var judge = PlanJudge(structure)
                    for plan in plans { judge.take(plan) }
                    judge.finish(frames: 50)
                    faults += judge.faults
                    var numbering = numbering(structure)
                    let numbers = plans.map { numbering.number($0) }
                    #expect(Set(plans.map(\.temporalLayer)) == Set(0..<layers))
                    for kept in 0..<layers - 1 {
                        for joined in [1000] + Array(0..<50) {
                            var receiver = Receiver(structure)
                            receiver.decoder.allowsGaps = structure.allowsFrameNumGaps
                            for (plan, numbers) in zip(plans, numbers) {
                                let limit = plan.codingIndex >= joined ? kept + 1 : kept
                                if plan.temporalLayer > limit {
                                    dropped += 1
                                } else {
                                    receiver.receive(plan, numbers, mustBeRight: true)
                                }
                            }
                            faults += (receiver.faults + receiver.decoder.faults).map { "\(structure), \(kept): \($0)" }
                        }
                    }
                }
            }
        }
        #expect(dropped > 1000)
        #expect(faults.prefix(5) == [])
    }

    @Test func fourTemporalLayersFormAHierarchy() {
        var structure = GOPStructure(keyInterval: nil, references: 1)
        structure.temporalLayers = 4
        var planner = FramePlanner(structure: structure)
        let plans = (0..<17).flatMap { _ in planner.add() }
        #expect(plans.map(\.temporalLayer) == [0, 3, 2, 3, 1, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3, 0])
        #expect(plans.map { $0.list0.first ?? -1 } == [-1, 0, 0, 2, 0, 4, 4, 6, 0, 8, 8, 10, 8, 12, 12, 14, 8])
        #expect(plans.allSatisfy { $0.isReference == ($0.temporalLayer < 3) })
        #expect(structure.storage == 4 && structure.allowsFrameNumGaps)
    }

    /// The sender's reaction to the report of a lost picture.
    private enum Report: CaseIterable { case invalidation, refresh }

    private struct Tally {
        var faults: [String] = []
        var keys = 0
        var refreshes = 0
        var reports = 0
    }

    /// Runs a stream of 70 frames. The pictures with coding indices in `losses` do not arrive. The encoder gets the
    /// reports of losses and the acknowledgements `delay` frames later.
    private func run(_ structure: GOPStructure, losses: Set<Int>, delay: Int, _ report: Report, _ tally: inout Tally) {
        var planner = FramePlanner(structure: structure)
        var numbering = numbering(structure)
        // The plan must suit both receivers; a picture that both decoded correctly is acknowledged.
        var receivers = [Receiver(structure), Receiver(structure, infersNothing: true)]
        // An intact decoder must find no fault either.
        var judge = PlanJudge(structure, log2_max_frame_num: 5)
        var news: [(frame: Int, lost: Int?, token: Int?)] = []
        /// The losses that were not reported yet; until the report, pictures may be wrong.
        var unreported = 0
        var sinceReport = true
        let frames = 70
        for frame in 0..<frames {
            var request = FrameRequest()
            let arrived = news.filter { $0.frame <= frame }
            news.removeAll { $0.frame <= frame }
            request.acknowledgedTokens = arrived.compactMap(\.token)
            let lost = arrived.compactMap(\.lost)
            unreported -= lost.count
            if !lost.isEmpty {
                tally.reports += 1
                switch report {
                case .invalidation: planner.invalidate(displayIndices: lost)
                case .refresh: request.refreshFromLongTerm = true
                }
                sinceReport = report == .invalidation
            }
            for plan in planner.add(request) + (frame == frames - 1 ? planner.finish() : []) {
                judge.take(plan)
                let numbers = numbering.number(plan)
                if plan.displayIndex == frame, request.refreshFromLongTerm {
                    sinceReport = true
                    if plan.type == .idr { tally.keys += 1 } else { tally.refreshes += 1 }
                } else if plan.type == .idr, plan.displayIndex > 0 {
                    tally.keys += 1
                }
                if losses.contains(plan.codingIndex) {
                    unreported += 1
                    for index in receivers.indices where plan.type == .idr { receivers[index].decoder.previousIDR = nil }
                    news.append((frame + delay, plan.displayIndex, nil))
                } else {
                    for index in receivers.indices {
                        receivers[index].receive(plan, numbers, mustBeRight: unreported == 0 && sinceReport)
                    }
                    if let token = plan.acknowledgementToken,
                        receivers.allSatisfy({ $0.right.contains(plan.codingIndex) })
                    {
                        news.append((frame + delay, nil, token))
                    }
                }
            }
        }
        judge.finish(frames: frames)
        let name = "\(structure), \(losses.sorted()) lost, \(report) after \(delay): "
        tally.faults += (receivers.flatMap { $0.faults.prefix(2) } + judge.faults.prefix(2)).map { name + $0 }
    }

    private func structures(longTerm: ClosedRange<Int>, interval: Int? = nil) -> [GOPStructure] {
        var found: Set<GOPStructure> = []
        for references in 1...4 {
            for bFrames in [0, 1, 2, 3, 7] {
                for isPyramid in [false, true] {
                    for longTermReferences in longTerm {
                        var structure = GOPStructure(keyInterval: interval, references: references)
                        structure.bFrames = bFrames
                        structure.isPyramid = isPyramid
                        structure.longTermReferences = longTermReferences
                        structure.longTermInterval = 5
                        structure.isOpen = interval != nil
                        structure.idrInterval = 3
                        found.insert(structure.consistent)
                    }
                }
            }
        }
        return Array(found)
    }

    @Test(arguments: [1, 2, 5, 9]) func picturesAreCorrectAfterInvalidation(_ delay: Int) {
        var tally = Tally()
        for structure in structures(longTerm: 0...2) + structures(longTerm: 0...1, interval: 20) {
            for lost in stride(from: 0, to: 30, by: 2) { run(structure, losses: [lost], delay: delay, .invalidation, &tally) }
            for lost in 10..<16 {
                run(structure, losses: [lost, lost + 1, lost + 7], delay: delay, .invalidation, &tally)
            }
        }
        #expect(tally.reports > 2000 && tally.keys > 200)
        #expect(tally.faults.prefix(5) == [])
    }

    @Test(arguments: [1, 3, 8]) func picturesAreCorrectAfterRefresh(_ delay: Int) {
        var tally = Tally()
        for structure in structures(longTerm: 1...4) + structures(longTerm: 2...2, interval: 20) {
            for lost in stride(from: 0, to: 40, by: 2) { run(structure, losses: [lost], delay: delay, .refresh, &tally) }
            for lost in 20..<26 {
                run(structure, losses: [lost, lost + 2, lost + 9], delay: delay, .refresh, &tally)
            }
        }
        #expect(tally.reports > 1500 && tally.refreshes > 1000 && tally.keys > 50)
        #expect(tally.faults.prefix(5) == [])
    }

    /// The latest acknowledged long-term reference is kept, however many pictures follow. A refresh predicts from it
    /// and needs no key frame. With two or more long-term references, a new one is marked beside it.
    @Test(arguments: 1...3, [0, 2]) func acknowledgedLongTermReferenceIsKept(_ count: Int, _ bFrames: Int) {
        var structure = GOPStructure(keyInterval: nil, references: count)
        structure.longTermReferences = count
        structure.longTermInterval = 4
        structure.bFrames = bFrames
        var planner = FramePlanner(structure: structure)
        var judge = PlanJudge(structure.consistent, log2_max_frame_num: 8, log2_max_pic_order_cnt_lsb: 12)
        var plans = planner.add()
        let token = plans[0].acknowledgementToken
        #expect(token != nil)
        var marked: [Int] = []
        var refreshes: [[Int]] = []
        for frame in 1..<400 {
            var request = FrameRequest()
            if frame == 5 { request.acknowledgedTokens = [token].compactMap { $0 } }
            request.refreshFromLongTerm = frame % 90 == 0
            let new = planner.add(request)
            if request.refreshFromLongTerm { refreshes.append(new.last?.list0 ?? []) }
            marked += new.filter { $0.longTermIndex != nil }.map(\.displayIndex)
            plans += new
        }
        plans += planner.finish()
        #expect(refreshes == Array(repeating: [0], count: 4))
        #expect(plans.dropFirst().allSatisfy { $0.type != .idr })
        // Before the acknowledgement can arrive, no other picture replaces the reference either.
        #expect(marked.isEmpty == (count == 1), "\(marked)")
        for plan in plans { judge.take(plan) }
        judge.finish(frames: 400)
        #expect(judge.faults.prefix(3) == [])
    }

    /// A receiver that joins later can acknowledge the replacement as a reference.
    @Test func unacknowledgedLongTermReferenceIsReplaced() {
        var structure = GOPStructure(keyInterval: nil, references: 1)
        structure.longTermReferences = 1
        structure.longTermInterval = 4
        var planner = FramePlanner(structure: structure)
        let plans = (0..<40).flatMap { _ in planner.add() }
        #expect(plans.filter { $0.longTermIndex != nil }.map(\.displayIndex) == [0, 16, 32])
        let token = plans[32].acknowledgementToken
        var request = FrameRequest(refreshFromLongTerm: true)
        request.acknowledgedTokens = [token].compactMap { $0 }
        #expect(planner.add(request).last?.list0 == [32])
    }

    /// If an older reference is left, a loss needs no key frame; otherwise the next picture is a key frame.
    @Test func lossForcesAKeyFrameOnlyWithoutReferences() {
        func next(references: Int, longTerm: Int = 0, lost: [Int]) -> FramePlan {
            var structure = GOPStructure(keyInterval: nil, references: references)
            structure.longTermReferences = longTerm
            var planner = FramePlanner(structure: structure)
            for _ in 0..<12 { _ = planner.add() }
            planner.invalidate(displayIndices: lost)
            return planner.add()[0]
        }
        #expect(next(references: 4, lost: [10]).list0 == [9, 8])
        #expect(next(references: 4, lost: [11]).list0 == [10, 9, 8])
        #expect(next(references: 4, lost: [8]).type == .idr)
        #expect(next(references: 1, lost: [11]).type == .idr)
        #expect(next(references: 1, lost: []).type == .p)
        // The key frame and the eighth picture are kept as long-term references.
        #expect(next(references: 3, longTerm: 2, lost: [9]).list0 == [8, 0])
        #expect(next(references: 3, longTerm: 2, lost: [5]).list0 == [0])
        #expect(next(references: 3, longTerm: 2, lost: [0]).type == .idr)
        // Frames that are still to come change nothing.
        #expect(next(references: 1, lost: [40]).type == .p)
        // The loss of B pictures that no picture refers to changes nothing.
        var structure = GOPStructure(keyInterval: nil, references: 1)
        structure.bFrames = 2
        var planner = FramePlanner(structure: structure)
        for _ in 0..<7 { _ = planner.add() }
        planner.invalidate(displayIndices: [4, 5])
        let plans = (0..<3).flatMap { _ in planner.add() }
        #expect(plans.map(\.type) == [.p, .b, .b] && plans[0].displayIndex == 9)
        // The waiting frames become a key frame and its successors.
        _ = planner.add()
        planner.invalidate(displayIndices: [6])
        let after = planner.add() + planner.add() + planner.add() + planner.finish()
        #expect(after.map(\.type) == [.idr, .p, .b, .b])
        #expect(after.map(\.displayIndex) == [10, 13, 11, 12])
    }

    /// If the reported pictures are no longer known, all stored pictures count as lost.
    @Test func oldLossReportsInvalidateAllReferences() {
        var planner = FramePlanner(structure: GOPStructure(keyInterval: nil, references: 4))
        for _ in 0..<1500 { _ = planner.add() }
        planner.invalidate(displayIndices: [1490])
        #expect(planner.add()[0].type == .idr)
        for _ in 0..<1500 { _ = planner.add() }
        planner.invalidate(displayIndices: [1502])
        #expect(planner.add()[0].type == .idr)
        // This report is about an earlier sequence.
        for _ in 0..<5 { _ = planner.add() }
        planner.invalidate(displayIndices: [1502])
        #expect(planner.add()[0].type == .p)
    }

    @Test func refreshUsesAcknowledgedLongTermReferences() {
        var structure = GOPStructure(keyInterval: nil, references: 2)
        structure.longTermReferences = 2
        structure.longTermInterval = 100
        var planner = FramePlanner(structure: structure)
        let key = planner.add()[0]
        #expect(key.longTermIndex == 0 && key.acknowledgementToken == 0)
        #expect(planner.add()[0].acknowledgementToken == nil)
        // Without an acknowledged reference, the refresh is a key frame, which is itself a long-term reference.
        let second = planner.add(FrameRequest(refreshFromLongTerm: true))[0]
        #expect(second.type == .idr && second.acknowledgementToken == 1)
        _ = planner.add(FrameRequest(acknowledgedTokens: [1, 77]))
        let marked = planner.add(FrameRequest(makeLongTerm: true))[0]
        #expect(marked.longTermIndex == 1 && marked.acknowledgementToken == 2)
        // The later reference is not acknowledged; neither it nor the P pictures are used.
        let refresh = planner.add(FrameRequest(refreshFromLongTerm: true))[0]
        #expect(refresh.type == .p && refresh.list0 == [second.codingIndex])
        #expect(planner.add()[0].list0 == [refresh.codingIndex, second.codingIndex])
        planner.acknowledge([2])
        let again = planner.add(FrameRequest(refreshFromLongTerm: true))[0]
        #expect(again.list0 == [marked.codingIndex, second.codingIndex])
    }
}
