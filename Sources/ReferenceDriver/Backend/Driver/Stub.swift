internal import CVA
struct ParameterSets {}
extension Driver { func endPicture(_ id: VAContextID) throws { throw Refusal.unimplemented("later") } }
