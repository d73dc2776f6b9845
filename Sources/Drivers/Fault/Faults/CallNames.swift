/// The calls that reach a driver, by the names that clients know.
package enum CallNames {
    /// The name under which a call is counted; nil for none. libva makes both its surface calls one to clients, and
    /// the two ways to map a buffer one to drivers.
    package static func counted(_ name: String) -> String? {
        switch name {
        case "vaCreateSurfaces2": "vaCreateSurfaces"
        case "vaMapBuffer2": "vaMapBuffer"
        default: all.contains(name) ? name : nil
        }
    }

    /// Calls by which clients let go of what they have.
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
