internal import CVA

extension VADriverVTable {
    /// Wraps the subpicture calls that the wrapped driver implements.
    mutating func wrapSubpictures(_ wrapped: VADriverVTable) {
        if unsafe wrapped.vaQuerySubpictureFormats != nil {
            unsafe vaQuerySubpictureFormats = { client, formatList, flags, numFormats in
                unsafe pass(client, "vaQuerySubpictureFormats") {
                    unsafe $0.calls.pointee.vaQuerySubpictureFormats($0.context, formatList, flags, numFormats)
                }
            }
        }
        if unsafe wrapped.vaCreateSubpicture != nil {
            unsafe vaCreateSubpicture = { client, image, subpicture in
                unsafe pass(client, "vaCreateSubpicture") { unsafe $0.calls.pointee.vaCreateSubpicture($0.context, image, subpicture) }
            }
        }
        if unsafe wrapped.vaDestroySubpicture != nil {
            unsafe vaDestroySubpicture = { client, subpicture in
                unsafe pass(client, "vaDestroySubpicture") { unsafe $0.calls.pointee.vaDestroySubpicture($0.context, subpicture) }
            }
        }
        if unsafe wrapped.vaSetSubpictureImage != nil {
            unsafe vaSetSubpictureImage = { client, subpicture, image in
                unsafe pass(client, "vaSetSubpictureImage") { unsafe $0.calls.pointee.vaSetSubpictureImage($0.context, subpicture, image) }
            }
        }
        if unsafe wrapped.vaSetSubpictureChromakey != nil {
            unsafe vaSetSubpictureChromakey = { client, subpicture, chromakeyMin, chromakeyMax, chromakeyMask in
                unsafe pass(client, "vaSetSubpictureChromakey") {
                    unsafe $0.calls.pointee.vaSetSubpictureChromakey($0.context, subpicture, chromakeyMin, chromakeyMax, chromakeyMask)
                }
            }
        }
        if unsafe wrapped.vaSetSubpictureGlobalAlpha != nil {
            unsafe vaSetSubpictureGlobalAlpha = { client, subpicture, globalAlpha in
                unsafe pass(client, "vaSetSubpictureGlobalAlpha") {
                    unsafe $0.calls.pointee.vaSetSubpictureGlobalAlpha($0.context, subpicture, globalAlpha)
                }
            }
        }
        if unsafe wrapped.vaAssociateSubpicture != nil {
            unsafe vaAssociateSubpicture = {
                client, subpicture, targetSurfaces, numSurfaces, srcX, srcY, srcWidth, srcHeight, destX, destY, destWidth, destHeight, flags in
                unsafe pass(client, "vaAssociateSubpicture") {
                    unsafe $0.calls.pointee.vaAssociateSubpicture(
                        $0.context, subpicture, targetSurfaces, numSurfaces, srcX, srcY, srcWidth, srcHeight, destX, destY, destWidth, destHeight,
                        flags)
                }
            }
        }
        if unsafe wrapped.vaDeassociateSubpicture != nil {
            unsafe vaDeassociateSubpicture = { client, subpicture, targetSurfaces, numSurfaces in
                unsafe pass(client, "vaDeassociateSubpicture") {
                    unsafe $0.calls.pointee.vaDeassociateSubpicture($0.context, subpicture, targetSurfaces, numSurfaces)
                }
            }
        }
    }
}
