// What packets are turned into for containers and networks, and back: start codes and lengths.
@_exported public import enum NALWriting.AnnexB
@_exported public import struct NALWriting.AnnexBSplitter
@_exported public import struct NALWriting.DecoderConfiguration
@_exported public import enum NALWriting.LengthPrefixed
@_exported public import struct NALWriting.LengthPrefixedSplitter
@_exported public import enum NALWriting.LengthSize
@_exported public import struct NALWriting.MalformedStream
@_exported public import struct NALWriting.StreamConverter
