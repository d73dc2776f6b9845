import CVA
import ReferenceDriver
import TestOracles
import Testing

@Suite struct MD5Tests {
    @Test func md5MatchesRFC1321() {
        func hash(_ text: String) -> String {
            var md5 = MD5()
            md5.add(text.utf8)
            return md5.finish().map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        }
        // The vectors are those of RFC 1321 A.5.
        #expect(hash("") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(hash("a") == "0cc175b9c0f1b6a831c399e269772661")
        #expect(hash("abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(hash("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(hash("abcdefghijklmnopqrstuvwxyz") == "c3fcd3d76192e4007dfb496cca67e13b")
        #expect(
            hash(String(repeating: "1234567890", count: 8)) == "57edf4a22be3c955ac49da2e2107b67a")
    }
}
