package import EncodeSession
public import FoundationEssentials
public import VAAPI
public import VideoBase
public import struct NALUnits.MalformedStream

// Programs that show `localizedDescription` show the error's own line, in place of Foundation's default text. Only this library
// imports Foundation's part for that: the engine and the driver do without it.

extension VaencError: LocalizedError {}
extension VAError: LocalizedError {}
extension MalformedStream: LocalizedError {}
extension OutputOverflow: LocalizedError {}

extension DescribedError where Self: LocalizedError {
    /// The error's line, with what to do about it.
    public var errorDescription: String? { description }
    /// What to do about it; nil if nothing can be said.
    public var recoverySuggestion: String? { remedy }
}
