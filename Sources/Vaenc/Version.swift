@_exported public import VideoBase
