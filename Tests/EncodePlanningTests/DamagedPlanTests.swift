import EncodePlanning
import Testing
import VideoBase

/// Tests the judge of plans: each change of a plan, or of the numbers derived from it, must be a fault.
@Suite struct DamagedPlanTests {
    /// A change of a picture's syntax elements; returns false if there is nothing to change.
    private typealias Damage = @Sendable (inout H264PictureNumbers, FramePlan) -> Bool

    private static let syntax: [(name: String, damage: Damage)] = [
        (
            "frame_num",
            { numbers, _ in
                numbers.frame_num = (numbers.frame_num + 1) % 16
                return true
            }
        ),
        (
            "pic_order_cnt_lsb",
            { numbers, _ in
                numbers.pic_order_cnt_lsb = (numbers.pic_order_cnt_lsb + 2) % 64
                return true
            }
        ),
        (
            "idr_pic_id",
            { numbers, plan in
                numbers.idr_pic_id ^= 1
                return plan.type == .idr && plan.codingIndex > 0
            }
        ),
        (
            "nal_ref_idc",
            { numbers, plan in
                numbers.nal_ref_idc = numbers.nal_ref_idc == 0 ? 1 : 0
                return true
            }
        ),
        (
            "num_ref_idx_l0_active",
            { numbers, _ in
                guard let first = numbers.list0.first else { return false }
                numbers.list0.append(first)
                return true
            }
        ),
        (
            "num_ref_idx_l1_active",
            { numbers, _ in
                guard !numbers.list1.isEmpty else { return false }
                numbers.list1.removeLast()
                return true
            }
        ),
        (
            "abs_diff_pic_num",
            { numbers, _ in
                guard case .shortTerm(let difference)? = numbers.modifications0.first, numbers.stored.count > 1 else {
                    return false
                }
                numbers.modifications0[0] = .shortTerm(picNumDifference: difference - 1)
                return true
            }
        ),
        (
            "long_term_pic_num",
            { numbers, _ in
                guard case .longTerm(let number)? = numbers.modifications0.first else { return false }
                numbers.modifications0[0] = .longTerm(long_term_pic_num: number + 1)
                return true
            }
        ),
        (
            "a command too few",
            { numbers, _ in
                let before = numbers.marking.count
                numbers.marking.removeAll {
                    switch $0 {
                    case .forgetShortTerm, .forgetLongTerm, .makeCurrentLongTerm: true
                    default: false
                    }
                }
                return numbers.marking.count < before
            }
        ),
        (
            "difference_of_pic_nums",
            { numbers, _ in
                guard case .forgetShortTerm(let difference)? = numbers.marking.first else { return false }
                numbers.marking[0] = .forgetShortTerm(difference_of_pic_nums: difference + 1)
                return true
            }
        ),
        (
            "long_term_reference_flag",
            { numbers, plan in
                numbers.isLongTermReference.toggle()
                return plan.type == .idr
            }
        ),
    ]

    /// The changes of plans; each gets the plan and the plans before it.
    private static let plans: [(name: String, damage: @Sendable (inout FramePlan, [FramePlan]) -> Bool)] = [
        (
            "slot",
            { plan, _ in
                guard let other = plan.stored.first else { return false }
                plan.slot = other.slot
                return true
            }
        ),
        (
            "stored",
            { plan, _ in
                guard !plan.stored.isEmpty else { return false }
                plan.stored.removeFirst()
                return true
            }
        ),
        (
            "a reference that is gone",
            { plan, before in
                guard plan.type != .idr, !plan.list0.isEmpty,
                    let removed = before.first(where: { other in !plan.stored.contains { $0.codingIndex == other.codingIndex } })
                else { return false }
                plan.list0[0] = removed.codingIndex
                return true
            }
        ),
        (
            "order of display",
            { plan, _ in
                plan.displayIndex += 1
                return true
            }
        ),
        (
            "order of coding",
            { plan, _ in
                plan.codingIndex += 1
                return true
            }
        ),
        (
            "a B picture's side",
            { plan, _ in
                guard plan.type == .b else { return false }
                swap(&plan.list0, &plan.list1)
                return true
            }
        ),
        (
            "released",
            { plan, _ in
                guard !plan.released.isEmpty else { return false }
                plan.released = []
                return true
            }
        ),
    ]

    private static let structures: [GOPStructure] = {
        var found: [GOPStructure] = []
        for (bFrames, isPyramid, references, longTerm, layers) in [
            (0, false, 1, 0, 1), (0, false, 3, 0, 1), (2, false, 2, 0, 1), (3, true, 1, 0, 1), (7, true, 2, 0, 1),
            (0, false, 3, 2, 1), (3, true, 3, 1, 1), (0, false, 2, 0, 3), (1, false, 1, 0, 2),
        ] {
            for (interval, isOpen) in [(6, false), (9, true), (50, false)] {
                var structure = GOPStructure(keyInterval: interval, references: references)
                (structure.bFrames, structure.isPyramid, structure.isOpen) = (bFrames, isPyramid, isOpen)
                (structure.longTermReferences, structure.longTermInterval) = (longTerm, 4)
                (structure.temporalLayers, structure.idrInterval) = (layers, isOpen ? 2 : 1)
                found.append(structure.consistent)
            }
        }
        return found
    }()

    private static func planned(_ structure: GOPStructure) -> [FramePlan] {
        var planner = FramePlanner(structure: structure)
        return (0..<24).flatMap { planner.add(forceKey: $0 == 11) } + planner.finish()
    }

    @Test func judgeFindsDamagedSyntaxElements() {
        for (name, damage) in Self.syntax {
            var tried = 0
            for structure in Self.structures {
                let plans = Self.planned(structure)
                for at in plans.indices.dropLast() {
                    // Damage to the state shows in the next picture, unless that picture resets the state.
                    if plans[at + 1].type == .idr, name != "frame_num", name != "pic_order_cnt_lsb" { continue }
                    var judge = PlanJudge(structure)
                    var isDamaged = false
                    for plan in plans {
                        judge.take(plan) { if plan.codingIndex == at { isDamaged = damage(&$0, plan) } }
                    }
                    judge.finish(frames: plans.count)
                    guard isDamaged else { continue }
                    tried += 1
                    #expect(!judge.faults.isEmpty, "\(name) of picture \(at), \(structure)")
                }
            }
            #expect(tried >= 10, "\(name)")
        }
    }

    @Test func judgeFindsDamagedPlans() {
        for (name, damage) in Self.plans {
            var tried = 0
            for structure in Self.structures {
                let plans = Self.planned(structure)
                for at in plans.indices {
                    var damaged = plans
                    guard damage(&damaged[at], Array(plans[..<at])) else { continue }
                    // A picture that was not released shows in the next picture.
                    if name == "released", at + 1 == plans.count || plans[at + 1].type == .idr { continue }
                    tried += 1
                    var judge = PlanJudge(structure)
                    for plan in damaged { judge.take(plan) }
                    judge.finish(frames: plans.count)
                    #expect(!judge.faults.isEmpty, "\(name) of picture \(at), \(structure)")
                }
            }
            #expect(tried >= 10, "\(name)")
        }
    }

    @Test func judgeFindsChangedPictureTypes() {
        for structure in Self.structures {
            let plans = Self.planned(structure)
            let expected = PlanJudge.expectedTypes(structure, frames: 24, forced: [11])
            #expect(PlanJudge.types(plans) == expected)
            #expect(PlanJudge.expectedTypes(structure, frames: 24, forced: [12]) != expected)
            for at in plans.indices {
                var damaged = plans
                damaged[at].type = plans[at].type == .p ? .b : .p
                #expect(PlanJudge.types(damaged) != expected)
            }
        }
    }

    /// A decoder accepts prediction across an intra picture, but a viewer who starts there sees errors.
    @Test func judgeFindsPredictionAcrossIntraPictures() {
        var structure = GOPStructure(keyInterval: 5, references: 3)
        structure.idrInterval = 3
        let plans = Self.planned(structure)
        var tried = 0
        for at in plans.indices where plans[at].type == .p {
            guard let intra = plans[..<at].last(where: { $0.type == .i || $0.type == .idr }), intra.type == .i,
                let before = plans[at].stored.last(where: { $0.displayIndex < intra.displayIndex })
            else { continue }
            tried += 1
            var damaged = plans
            damaged[at].list0 = [before.codingIndex]
            var judge = PlanJudge(structure)
            for plan in damaged { judge.take(plan) }
            judge.finish(frames: plans.count)
            #expect(!judge.faults.isEmpty, "picture \(at)")
        }
        #expect(tried > 3)
    }
}
