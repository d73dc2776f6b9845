internal import CVA

extension VADriverVTable {
    /// Wraps the image calls that the wrapped driver implements.
    mutating func wrapImages(_ wrapped: VADriverVTable) {
        if unsafe wrapped.vaQueryImageFormats != nil {
            unsafe vaQueryImageFormats = { client, formatList, numFormats in
                unsafe pass(client, "vaQueryImageFormats") {
                    unsafe $0.calls.pointee.vaQueryImageFormats($0.context, formatList, numFormats)
                } corrupt: {
                    unsafe numFormats?.pointee = 0
                }
            }
        }
        if unsafe wrapped.vaCreateImage != nil {
            unsafe vaCreateImage = { client, format, width, height, image in
                unsafe pass(client, "vaCreateImage") {
                    unsafe $0.calls.pointee.vaCreateImage($0.context, format, width, height, image)
                } corrupt: {
                    unsafe invalidateIDs(of: image)
                }
            }
        }
        if unsafe wrapped.vaDeriveImage != nil {
            unsafe vaDeriveImage = { client, surface, image in
                unsafe pass(client, "vaDeriveImage") {
                    unsafe $0.calls.pointee.vaDeriveImage($0.context, surface, image)
                } corrupt: {
                    unsafe invalidateIDs(of: image)
                }
            }
        }
        if unsafe wrapped.vaDestroyImage != nil {
            unsafe vaDestroyImage = { client, image in
                unsafe pass(client, "vaDestroyImage") { unsafe $0.calls.pointee.vaDestroyImage($0.context, image) }
            }
        }
        if unsafe wrapped.vaSetImagePalette != nil {
            unsafe vaSetImagePalette = { client, image, palette in
                unsafe pass(client, "vaSetImagePalette") { unsafe $0.calls.pointee.vaSetImagePalette($0.context, image, palette) }
            }
        }
        if unsafe wrapped.vaGetImage != nil {
            unsafe vaGetImage = { client, surface, x, y, width, height, image in
                unsafe pass(client, "vaGetImage") { unsafe $0.calls.pointee.vaGetImage($0.context, surface, x, y, width, height, image) }
            }
        }
        if unsafe wrapped.vaPutImage != nil {
            unsafe vaPutImage = { client, surface, image, srcX, srcY, srcWidth, srcHeight, destX, destY, destWidth, destHeight in
                unsafe pass(client, "vaPutImage") {
                    unsafe $0.calls.pointee.vaPutImage(
                        $0.context, surface, image, srcX, srcY, srcWidth, srcHeight, destX, destY, destWidth, destHeight)
                }
            }
        }
    }
}
