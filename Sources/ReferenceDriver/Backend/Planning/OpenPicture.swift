/// A picture between vaBeginPicture and vaEndPicture, by what its context does.
enum OpenPicture {
    case encode(EncodePicture)
    case decode(DecodePicture)

    var target: Surface {
        switch self {
        case .encode(let picture): picture.target
        case .decode(let picture): picture.target
        }
    }
}
