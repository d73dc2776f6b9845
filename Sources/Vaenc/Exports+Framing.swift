// Types that convert packets between start codes and length prefixes, for containers and networks.
@_exported public import enum NALUnits.AnnexB
@_exported public import struct NALUnits.AnnexBSplitter
@_exported public import struct NALUnits.DecoderConfiguration
@_exported public import enum NALUnits.LengthPrefixed
@_exported public import struct NALUnits.LengthPrefixedSplitter
@_exported public import enum NALUnits.LengthSize
@_exported public import struct NALUnits.MalformedStream
@_exported public import struct NALUnits.StreamConverter
