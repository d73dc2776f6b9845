internal import CVA

extension VADriverVTable {
    /// Fills in the calls that this driver does not implement. libva requires some of them, and calls others without a
    /// null check.
    mutating func fillAbsent() {
        unsafe vaPutSurface = { _, _, _, _, _, _, _, _, _, _, _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaLockSurface = { _, _, _, _, _, _, _, _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaUnlockSurface = { _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaGetSurfaceAttributes = { _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaAcquireBufferHandle = { _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaReleaseBufferHandle = { _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaCreateMFContext = { _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaMFAddContext = { _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaMFReleaseContext = { _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaMFSubmit = { _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaCreateBuffer2 = { _, _, _, _, _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaQueryProcessingRate = { _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaCopy = { _, _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        fillSubpictures()
        fillDisplayAttributes()
    }

    private mutating func fillSubpictures() {
        unsafe vaQuerySubpictureFormats = { context, _, _, count in
            unsafe call(context) { _ in unsafe try resultPointer(count).pointee = 0 }
        }
        unsafe vaCreateSubpicture = { _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaDestroySubpicture = { _, _ in VA_STATUS_ERROR_INVALID_SUBPICTURE }
        unsafe vaSetSubpictureImage = { _, _, _ in VA_STATUS_ERROR_INVALID_SUBPICTURE }
        unsafe vaSetSubpictureChromakey = { _, _, _, _, _ in VA_STATUS_ERROR_INVALID_SUBPICTURE }
        unsafe vaSetSubpictureGlobalAlpha = { _, _, _ in VA_STATUS_ERROR_INVALID_SUBPICTURE }
        unsafe vaAssociateSubpicture = { _, _, _, _, _, _, _, _, _, _, _, _, _ in VA_STATUS_ERROR_INVALID_SUBPICTURE }
        unsafe vaDeassociateSubpicture = { _, _, _, _ in VA_STATUS_ERROR_INVALID_SUBPICTURE }
    }

    private mutating func fillDisplayAttributes() {
        unsafe vaQueryDisplayAttributes = { context, _, count in
            unsafe call(context) { _ in unsafe try resultPointer(count).pointee = 0 }
        }
        unsafe vaGetDisplayAttributes = { _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        unsafe vaSetDisplayAttributes = { _, _, _ in VA_STATUS_ERROR_UNIMPLEMENTED }
    }
}
