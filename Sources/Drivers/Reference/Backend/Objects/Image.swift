internal import CVA

/// A VA image. The display's monitor guards it.
final class Image {
    let id: VAImageID
    let layout: PlaneLayout
    let buffer: Buffer

    init(id: VAImageID, layout: PlaneLayout, buffer: Buffer) {
        self.id = id
        self.layout = layout
        self.buffer = buffer
    }

    var description: VAImage {
        var image = VAImage()
        image.image_id = id
        image.format = layout.format.description
        image.buf = buffer.id
        image.width = UInt16(layout.width)
        image.height = UInt16(layout.height)
        image.data_size = UInt32(layout.byteCount)
        image.num_planes = UInt32(layout.offsets.count)
        func word(_ list: [Int], _ plane: Int) -> UInt32 { plane < list.count ? UInt32(list[plane]) : 0 }
        image.pitches = (word(layout.pitches, 0), word(layout.pitches, 1), word(layout.pitches, 2))
        image.offsets = (word(layout.offsets, 0), word(layout.offsets, 1), word(layout.offsets, 2))
        return image
    }
}
