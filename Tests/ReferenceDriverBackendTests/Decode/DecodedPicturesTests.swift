import CVA
import TestOracles
import Testing

@testable import ReferenceDriver

/// Tests that references which do not match their surfaces are refused, and that references which clients invent pass.
@Suite struct DecodedPicturesTests {
    private typealias Name = DecodedPictures.Name
    private func mark(_ marks: [VASurfaceID: DecodeMark]) -> (VASurfaceID) -> DecodeMark? { { marks[$0] } }

    @Test func referencesAreCheckedAgainstSurfaces() throws {
        var pictures = DecodedPictures()
        var marks: [VASurfaceID: DecodeMark] = [:]
        for number in 0..<4 {
            let name = Name(frame: number, top: 2 * number, bottom: 2 * number + 1)
            marks[VASurfaceID(number)] = pictures.note(name, in: VASurfaceID(number), of: 9, mayStandForMissing: number < 3)
        }
        func reference(_ number: Int, in surface: Int) -> (name: Name, surface: VASurfaceID) {
            (Name(frame: number, top: 2 * number, bottom: 2 * number + 1), VASurfaceID(surface))
        }
        #expect(try pictures.check([reference(1, in: 1), reference(2, in: 2)], mark: mark(marks)))
        #expect(try pictures.check([reference(1, in: 1), reference(7, in: 30)], mark: mark(marks)), "one made up")
        #expect(try !pictures.check([], mark: mark(marks)), "the client starts again")
        #expect(try !pictures.check([reference(7, in: 30)], mark: mark(marks)))
        #expect(try !pictures.check([reference(1, in: 2)], mark: mark(marks)), "no reference is in its surface: a restart")
        #expect(try pictures.check([reference(7, in: 2)], mark: mark(marks)), "a substitute in the surface of the latest reference")
        #expect(try !pictures.check([reference(7, in: 3)], mark: mark(marks)), "in the surface of a picture that is no reference")
        #expect(try !pictures.check([reference(7, in: 1)], mark: mark(marks)), "in a surface that was reused")
        #expect(
            try !pictures.check([reference(7, in: 1), reference(0, in: 1)], mark: mark(marks)), "no reference is in its surface either: a restart")
        #expect(throws: Refusal.self, "one of two is elsewhere") {
            _ = try pictures.check([reference(1, in: 1), reference(2, in: 3)], mark: mark(marks))
        }
        marks[1] = nil
        #expect(throws: Refusal.self, "overwritten by a client") {
            _ = try pictures.check([reference(1, in: 1)], mark: mark(marks))
        }
        // A field refers to one field of a frame; a long-term reference has no frame_num.
        #expect(
            try pictures.check([(Name(frame: nil, top: 4, bottom: nil), VASurfaceID(2))], mark: mark(marks)))
        pictures.forget()
        #expect(try !pictures.check([reference(2, in: 2)], mark: mark(marks)))
    }

    @Test func scanOrdersMatchTheStandard() {
        #expect(H264DecodeSets.zigzag(4) == [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15])
        #expect(H264DecodeSets.zigzag(8).prefix(10) == [0, 1, 8, 16, 9, 2, 3, 10, 17, 24])
        #expect(HEVCDecodeSets.diagonal(4) == [0, 4, 1, 8, 5, 2, 12, 9, 6, 3, 13, 10, 7, 14, 11, 15])
        #expect(Set(H264DecodeSets.zigzag(8)).count == 64 && Set(HEVCDecodeSets.diagonal(8)).count == 64)
    }
}
