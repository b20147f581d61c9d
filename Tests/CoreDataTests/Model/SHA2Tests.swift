import Foundation
import ModelCompiler
import Testing

@testable import CoreData

@Suite("SHA-2")
struct SHA2Tests {
    @Test(
        "gives the digests of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func sha256(message: String, digest: String) {
        #expect(hexadecimal(SHA2.sha256(Array(message.utf8))) == digest)
    }

    @Test(
        "gives the 512-bit digests of the standard's examples",
        arguments: [
            (
                "",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            ),
            (
                "abc",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                    + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
            ),
        ]
    )
    func sha512(message: String, digest: String) {
        #expect(hexadecimal(SHA2.sha512(Array(message.utf8))) == digest)
    }

    // Digests of all lengths around a block's end, chained, so that one wrong padding shows in the last.
    @Test("pads messages of every length around the end of a block")
    func padding() {
        let chained256 = (0...130).reduce([UInt8]()) { SHA2.sha256($0 + [UInt8](repeating: 7, count: $1)) }
        let chained512 = (0...260).reduce([UInt8]()) { SHA2.sha512($0 + [UInt8](repeating: 7, count: $1)) }
        #expect(hexadecimal(chained256) == "624899f94ba1e371954b45b66204d5d7f5c924ccfc657fe03b3ac9505d9ddf32")
        #expect(
            hexadecimal(chained512) == "34ea998130bce25a85af578cff54eeb8b976de06442d883faa6a9c6b6974b365"
                + "276d1479e33fbc98374d26e6a9e9779d1172112426a55c1a3bbc9fd0b5e837bc"
        )
    }
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
