import Vaenc

// Runs a program of docs/PROGRAMS.md by its name, with the arguments of its function.
let words = Array(CommandLine.arguments.dropFirst())
do {
    switch (words.first, words.count) {
    case ("camera-to-annexb", 4): try cameraToAnnexB(words[1], words[2], duration: .seconds(Int(words[3]) ?? 1))
    case ("camera-and-microphone", 5):
        try cameraAndMicrophone(words[1], words[2], words[3], duration: .seconds(Int(words[4]) ?? 1))
    case ("first-frames", 4): try firstFrames(of: words[1], words[2], count: Int(words[3]) ?? 200)
    case ("still-picture", 3): try stillPicture(words[1], words[2])
    case ("remux", 3): try remux(words[1], words[2])
    case ("transcode", 4): try transcode(words[1], words[2], device: DeviceSelector(words[3]) ?? .auto)
    case ("two-codecs", 5): try twoCodecs(words[1], words[2], words[3], device: DeviceSelector(words[4]) ?? .auto)
    case ("decode", 3): try await decode(words[1], words[2])
    default: throw VaencError(.usage, "no such program: \(words)", remedy: "look into Examples/main.swift")
    }
} catch {
    print("examples: \(error)")
    throw error
}
