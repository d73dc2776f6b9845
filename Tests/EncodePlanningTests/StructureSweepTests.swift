import EncodePlanning
import Testing
import VideoBase

/// Sweeps every GOP length × B pictures × pyramid × open or closed × IDR interval × references × forced key frame.
@Suite struct StructureSweepTests {
    private static func structures(_ interval: Int?) -> [GOPStructure] {
        var found: Set<GOPStructure> = []
        for bFrames in 0...7 {
            for shape in 0..<4 {
                for idrInterval in 1...3 {
                    for references in 1...4 {
                        var structure = GOPStructure(keyInterval: interval, references: references)
                        structure.bFrames = bFrames
                        structure.isPyramid = shape & 1 == 1
                        structure.isOpen = shape & 2 == 2 && idrInterval > 1
                        structure.idrInterval = idrInterval
                        structure.references1 = references > 2 ? 2 : 1
                        found.insert(structure.consistent)
                    }
                }
            }
        }
        return Array(found)
    }

    @Test(arguments: Array(1...20)) func everyStructureIsPlannedWithoutFaults(_ interval: Int) {
        var faults: [String] = []
        var runs = 0
        for structure in Self.structures(interval) {
            // A key frame resets the planner: one in the first GOP and one in the second cover all cases.
            for forced in 1...min(2 * interval, 19) {
                runs += 1
                let frames = forced + min(interval * structure.idrInterval, 12) + 3
                var planner = FramePlanner(structure: structure)
                var judge = PlanJudge(structure)
                var plans: [FramePlan] = []
                for index in 0..<frames { plans += planner.add(forceKey: index == forced) }
                plans += planner.finish()
                for plan in plans { judge.take(plan) }
                judge.finish(frames: frames)
                let expected = PlanJudge.expectedTypes(structure, frames: frames, forced: [forced])
                let types = PlanJudge.types(plans)
                if types != expected { faults.append("\(structure), key \(forced): \(types), not \(expected)") }
                if structure.bReferenceLevels == 0, judge.commands > 0 {
                    faults.append("\(structure), key \(forced): \(judge.commands) commands")
                }
                faults += judge.faults.map { "\(structure), key \(forced): \($0)" }
                if faults.count > 10 { break }
            }
        }
        #expect(runs == Self.structures(interval).count * min(2 * interval, 19))
        #expect(faults == [])
    }

    @Test(arguments: [nil, 1, 2, 3, 5, 8, 11]) func longTermReferencesAndLayersArePlannedWithoutFaults(_ interval: Int?) {
        var structures: Set<GOPStructure> = []
        for bFrames in [0, 1, 2, 3, 7] {
            for shape in 0..<4 {
                for references in 1...4 {
                    for layers in 1...4 {
                        for longTerm in 0...3 {
                            var structure = GOPStructure(keyInterval: interval, references: references)
                            structure.bFrames = bFrames
                            structure.isPyramid = shape & 1 == 1
                            structure.isOpen = shape & 2 == 2
                            structure.idrInterval = shape & 2 == 2 ? 2 : 1
                            structure.temporalLayers = layers
                            structure.longTermReferences = longTerm
                            structure.longTermInterval = 3
                            structures.insert(structure.consistent)
                        }
                    }
                }
            }
        }
        var faults: [String] = []
        var longTerm = 0
        var layered = 0
        for structure in structures {
            for forced in 1...9 {
                var planner = FramePlanner(structure: structure)
                var judge = PlanJudge(structure)
                var plans: [FramePlan] = []
                for index in 0..<20 { plans += planner.add(forceKey: index == forced) }
                plans += planner.finish()
                for plan in plans { judge.take(plan) }
                judge.finish(frames: 20)
                let expected = PlanJudge.expectedTypes(structure, frames: 20, forced: [forced])
                if PlanJudge.types(plans) != expected { faults.append("\(structure), key \(forced): types") }
                longTerm += plans.count { $0.longTermIndex != nil }
                layered += plans.count { $0.temporalLayer > 0 }
                faults += judge.faults.map { "\(structure), key \(forced): \($0)" }
            }
        }
        #expect(structures.count > 200 && longTerm > 1000 && (layered > 1000 || interval == 1))
        #expect(faults.prefix(5) == [])
    }
}
