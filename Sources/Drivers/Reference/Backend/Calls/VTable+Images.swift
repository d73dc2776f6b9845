internal import CVA

extension VADriverVTable {
    mutating func fillImages() {
        unsafe vaQueryImageFormats = { context, formats, count in
            unsafe call(context) { driver in
                let answer = driver.capabilities.imageFormats.map(\.description)
                let count = try unsafe resultPointer(count)
                try unsafe store(answer, formats)
                unsafe count.pointee = Int32(answer.count)
            }
        }
        unsafe vaCreateImage = { context, format, width, height, image in
            unsafe call(context) { driver in
                let fourcc = try unsafe resultPointer(format).pointee.fourcc
                let image = try unsafe resultPointer(image)
                unsafe image.pointee = try driver.createImage(fourcc: fourcc, width: Int(width), height: Int(height))
            }
        }
        unsafe vaDeriveImage = { context, surface, image in
            unsafe call(context) { driver in
                let image = try unsafe resultPointer(image)
                unsafe image.pointee = try driver.deriveImage(surface)
            }
        }
        unsafe vaDestroyImage = { context, id in
            unsafe call(context) { try $0.destroyImage(id) }
        }
        unsafe vaSetImagePalette = { context, id, _ in
            unsafe call(context) { driver in
                _ = try driver.monitor.withLock { try driver.image(id) }
                throw Refusal.unimplemented("images have no palette")
            }
        }
        unsafe vaGetImage = { context, surface, x, y, width, height, image in
            unsafe call(context) { driver in
                let rectangle = Driver.Rectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
                try driver.getImage(surface, rectangle, into: image)
            }
        }
        unsafe vaPutImage = { context, surface, image, x, y, width, height, toX, toY, toWidth, toHeight in
            unsafe call(context) { driver in
                let from = Driver.Rectangle(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
                let to = Driver.Rectangle(x: Int(toX), y: Int(toY), width: Int(toWidth), height: Int(toHeight))
                try driver.putImage(image, from, into: surface, to)
            }
        }
    }
}
