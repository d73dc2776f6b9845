// Files, cameras and devices are part of the library: `import Vaenc` is all that a program needs.
@_exported public import Capture
@_exported public import MediaFiles
@_exported public import VAAPI
@_exported public import VideoBase
