package import EncodeSession
public import FoundationEssentials
public import VAAPI
public import VideoBase
public import struct NALUnits.MalformedStream

// Makes `localizedDescription` return the error's own text instead of Foundation's default text. Only this library
// imports FoundationEssentials for that; the engine and the driver do not need it.

extension VaencError: LocalizedError {}
extension VAError: LocalizedError {}
extension MalformedStream: LocalizedError {}
extension OutputOverflow: LocalizedError {}

extension DescribedError where Self: LocalizedError {
    /// The error's text, with the remedy.
    public var errorDescription: String? { description }
    /// The remedy; nil if none is known.
    public var recoverySuggestion: String? { remedy }
}
