/// The client-side names of the calls that reach a driver.
package enum CallNames {
    /// Returns the name under which a call is counted, or nil if no such call reaches a driver.
    ///
    /// The driver's vaCreateSurfaces and vaCreateSurfaces2 are one call to clients. A client's vaMapBuffer2 reaches the
    /// fault driver as vaMapBuffer.
    package static func countedName(of name: String) -> String? {
        switch name {
        case "vaCreateSurfaces2": "vaCreateSurfaces"
        case "vaMapBuffer2": "vaMapBuffer"
        default: all.contains(name) ? name : nil
        }
    }

    /// Whether a call releases a resource.
    package static func frees(_ name: String) -> Bool {
        name.hasPrefix("vaDestroy") || name.hasPrefix("vaUnmap") || name.hasPrefix("vaRelease")
    }

    package static let all: Set<String> = [
        "vaAcquireBufferHandle", "vaAssociateSubpicture", "vaAttachProtectedSession", "vaBeginPicture",
        "vaBufferInfo", "vaBufferSetNumElements", "vaCopy", "vaCreateBuffer", "vaCreateBuffer2", "vaCreateConfig",
        "vaCreateContext", "vaCreateImage", "vaCreateMFContext", "vaCreateProtectedSession", "vaCreateSubpicture",
        "vaCreateSurfaces", "vaDeassociateSubpicture", "vaDeriveImage", "vaDestroyBuffer", "vaDestroyConfig",
        "vaDestroyContext", "vaDestroyImage", "vaDestroyProtectedSession", "vaDestroySubpicture", "vaDestroySurfaces",
        "vaDetachProtectedSession", "vaEndPicture", "vaExportSurfaceHandle", "vaGetConfigAttributes",
        "vaGetDisplayAttributes", "vaGetImage", "vaGetSurfaceAttributes", "vaInitialize", "vaLockSurface",
        "vaMFAddContext", "vaMFReleaseContext", "vaMFSubmit", "vaMapBuffer", "vaProtectedSessionExecute",
        "vaPutImage", "vaPutSurface", "vaQueryConfigAttributes", "vaQueryConfigEntrypoints", "vaQueryConfigProfiles",
        "vaQueryDisplayAttributes", "vaQueryImageFormats", "vaQueryProcessingRate", "vaQuerySubpictureFormats",
        "vaQuerySurfaceAttributes", "vaQuerySurfaceError", "vaQuerySurfaceStatus", "vaQueryVideoProcFilterCaps",
        "vaQueryVideoProcFilters", "vaQueryVideoProcPipelineCaps", "vaReleaseBufferHandle", "vaRenderPicture",
        "vaSetDisplayAttributes", "vaSetImagePalette", "vaSetSubpictureChromakey", "vaSetSubpictureGlobalAlpha",
        "vaSetSubpictureImage", "vaSyncBuffer", "vaSyncSurface", "vaSyncSurface2", "vaTerminate", "vaUnlockSurface",
        "vaUnmapBuffer",
    ]
}
