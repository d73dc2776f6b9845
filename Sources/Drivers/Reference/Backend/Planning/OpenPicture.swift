/// A picture between vaBeginPicture and vaEndPicture, by the kind of its context.
enum OpenPicture {
    case encode(EncodePicture)
    case decode(DecodePicture)
    case process(ProcessPicture)

    var target: Surface {
        switch self {
        case .encode(let picture): picture.target
        case .decode(let picture): picture.target
        case .process(let picture): picture.target
        }
    }
}
