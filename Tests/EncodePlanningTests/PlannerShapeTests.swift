import EncodePlanning
import Testing
import VideoBase

@Suite struct PlannerShapeTests {
    private func structure(_ change: (inout GOPStructure) -> Void) -> GOPStructure {
        var structure = GOPStructure(keyInterval: nil, references: 1)
        change(&structure)
        return structure
    }

    private func plans(_ structure: GOPStructure, frames: Int) -> [FramePlan] {
        var planner = FramePlanner(structure: structure)
        return (0..<frames).flatMap { _ in planner.add() } + planner.finish()
    }

    @Test func bPicturesAreOrderedFlatOrInAPyramid() {
        let flat = plans(structure { $0.bFrames = 2 }, frames: 9)
        #expect(flat.map(\.displayIndex) == [0, 3, 1, 2, 6, 4, 5, 8, 7])
        #expect(flat.map(\.list0) == [[], [0], [0], [0], [1], [1], [1], [4], [4]])
        #expect(flat.map(\.list1) == [[], [], [1], [1], [], [4], [4], [], [7]])
        #expect(flat.map(\.depth) == [Int](repeating: 0, count: 9))
        let pyramid = plans(structure { ($0.bFrames, $0.isPyramid) = (7, true) }, frames: 9)
        #expect(pyramid.map(\.displayIndex) == [0, 8, 4, 2, 1, 3, 6, 5, 7])
        #expect(pyramid.map(\.depth) == [0, 0, 1, 2, 3, 3, 2, 3, 3])
        #expect(pyramid.map(\.isReference) == [true, true, true, true, false, false, true, false, false])
        #expect(pyramid.map(\.list0) == [[], [0], [0], [0], [0], [3], [2], [2], [6]])
        #expect(pyramid.map(\.list1) == [[], [], [1], [2], [3], [2], [1], [6], [1]])
        let oneLevel = plans(structure { ($0.bFrames, $0.isPyramid, $0.pyramidLevels) = (7, true, 1) }, frames: 9)
        #expect(oneLevel.map(\.displayIndex) == [0, 8, 4, 1, 2, 3, 5, 6, 7])
    }

    @Test func structureYieldsHeaderNumbers() {
        func numbers(_ bFrames: Int, _ isPyramid: Bool, references: Int = 1) -> [Int] {
            let found = structure { ($0.bFrames, $0.isPyramid, $0.references) = (bFrames, isPyramid, references) }
            return [found.reorderDepth, found.storage, found.delay, found.slotCount]
        }
        #expect(numbers(0, false) == [0, 1, 0, 2])
        #expect(numbers(0, false, references: 4) == [0, 4, 0, 5])
        #expect(numbers(3, false) == [1, 2, 3, 3])
        #expect(numbers(1, true) == [1, 2, 1, 3])
        #expect(numbers(2, true) == [2, 3, 2, 4])
        #expect(numbers(3, true, references: 4) == [2, 5, 3, 6])
        #expect(numbers(7, true) == [3, 4, 7, 5])
    }

    @Test func reorderDepthIsTheDeepestReordering() {
        for bFrames in 0...7 {
            for isPyramid in [false, true] {
                let structure = structure { ($0.bFrames, $0.isPyramid) = (bFrames, isPyramid) }.consistent
                var judge = PlanJudge(structure)
                for plan in plans(structure, frames: 30) { judge.take(plan) }
                #expect(judge.deepestReorder == structure.reorderDepth)
            }
        }
    }

    @Test func fittedStructuresKeepTheLimits() {
        var tried = 0
        for bFrames in [0, 1, 3, 7] {
            for references in [1, 3, 8, 16] {
                for layers in 1...4 {
                    for longTerm in [0, 2, 8] {
                        for storage in 1...16 {
                            for list1 in 0...2 {
                                tried += 1
                                let fitted = structure {
                                    ($0.bFrames, $0.references, $0.temporalLayers) = (bFrames, references, layers)
                                    ($0.longTermReferences, $0.isPyramid, $0.references1) = (longTerm, true, 2)
                                }.fitted(list0: 4, listB0: 2, list1: list1, storage: storage)
                                #expect(fitted.storage <= storage && fitted.references <= 4)
                                #expect(fitted.bFrames == 0 || (fitted.references1 <= list1 && list1 > 0))
                                #expect(fitted == fitted.fitted(list0: 4, listB0: 2, list1: list1, storage: storage))
                                #expect(fitted == fitted.consistent)
                            }
                        }
                    }
                }
            }
        }
        #expect(tried == 4 * 4 * 4 * 3 * 16 * 3)
        let requested = structure { ($0.bFrames, $0.references, $0.isPyramid) = (7, 3, true) }
        #expect(requested.fitted(list0: 3, list1: 1, storage: 16) == requested.fitted(list0: 3, list1: 1, storage: 5))
        #expect(requested.fitted(list0: 3, list1: 1, storage: 4).references == 2)
        #expect(requested.fitted(list0: 3, list1: 1, storage: 3).bReferenceLevels == 1)
        #expect(requested.fitted(list0: 3, list1: 1, storage: 2).isPyramid == false)
        #expect(requested.fitted(list0: 3, list1: 1, storage: 1).bFrames == 0)
    }

    @Test func intraRefreshStepsCycleInPPictures() {
        let refreshed = plans(
            structure { ($0.intraRefreshSteps, $0.references, $0.bFrames, $0.keyInterval) = (4, 3, 2, 6) }, frames: 14)
        #expect(refreshed.map { $0.intraRefresh?.index ?? -1 } == [-1, 0, 1, 2, 3, -1, -1, 0, 1, 2, 3, -1, -1, 0])
        #expect(refreshed.map(\.recoveryFrameCount) == refreshed.map { $0.intraRefresh?.index == 0 ? 4 : nil })
        #expect(refreshed.dropFirst().allSatisfy { $0.type == .p && $0.list0 == [$0.codingIndex - 1] })
        let steady = plans(structure { $0.intraRefreshSteps = 4 }, frames: 9)
        #expect(steady.map { $0.intraRefresh?.index ?? -1 } == [-1, 0, 1, 2, 3, 0, 1, 2, 3])
    }

    @Test func openIntraPicturesAreRecoveryPoints() {
        let open = plans(
            structure { ($0.bFrames, $0.keyInterval, $0.idrInterval, $0.isOpen) = (2, 6, 10, true) }, frames: 14)
        #expect(PlanJudge.types(open) == "IBBPBBiBBPBBiP")
        #expect(open.filter { $0.type == .i }.map(\.recoveryFrameCount) == [0, 0])
        #expect(open.filter { $0.type != .i }.allSatisfy { $0.recoveryFrameCount == nil })
    }

    /// Restarts at every moment of a stream: the new plans begin with a key frame, and every frame is planned.
    @Test func restartContinuesWithAKeyFrame() {
        for bFrames in [0, 3] {
            for moment in 1..<20 {
                var planner = FramePlanner(structure: structure { $0.bFrames = bFrames })
                var plans: [FramePlan] = []
                for _ in 0..<moment { plans += planner.add() }
                let kept = plans.count
                plans += planner.restart()
                for _ in 0..<6 { plans += planner.add() }
                plans += planner.finish()
                #expect(plans[kept].type == .idr)
                #expect(plans.map(\.codingIndex) == Array(0..<(moment + 6)))
                #expect(plans.map(\.displayIndex).sorted() == Array(0..<(moment + 6)))
                #expect(plans[(kept + 1)...].allSatisfy { ($0.list0 + $0.list1).allSatisfy { $0 >= kept } })
                #expect(plans[kept...].allSatisfy { $0.displayIndex >= plans[kept].displayIndex })
            }
        }
    }

    @Test func framesContinueAfterFinish() {
        var planner = FramePlanner(structure: structure { $0.bFrames = 3 })
        var plans = (0..<3).flatMap { _ in planner.add() } + planner.finish() + planner.finish()
        plans += (0..<5).flatMap { _ in planner.add() } + planner.finish()
        #expect(PlanJudge.types(plans) == "IBPBBBPP")
    }
}
