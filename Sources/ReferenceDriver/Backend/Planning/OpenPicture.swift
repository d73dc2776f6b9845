/// A picture between vaBeginPicture and vaEndPicture, by what its context does.
enum OpenPicture {
    case encode(EncodePicture)

    var target: Surface {
        switch self {
        case .encode(let picture): picture.target
        }
    }
}
