/// SHA-256 and SHA-512 (FIPS 180-4) of bytes that are all at hand.
///
/// Both run the same compression on words of different size; version hashes need nothing more, so there is no streaming form.
package enum SHA2 {
    /// The 32-byte SHA-256 of `message`.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        digest(of: message, rounds: 64, UInt32.self, Mixing(big: (2, 13, 22), (6, 11, 25), small: (7, 18, 3), (17, 19, 10)))
    }

    /// The 64-byte SHA-512 of `message`.
    package static func sha512(_ message: [UInt8]) -> [UInt8] {
        digest(of: message, rounds: 80, UInt64.self, Mixing(big: (28, 34, 39), (14, 18, 41), small: (1, 8, 7), (19, 61, 6)))
    }
}

/// The rotations of the functions Σ0 and Σ1, and the two rotations and one shift of σ0 and σ1.
private struct Mixing {
    typealias Counts = (Int, Int, Int)
    let big0, big1, small0, small1: Counts

    init(big big0: Counts, _ big1: Counts, small small0: Counts, _ small1: Counts) {
        self.big0 = big0
        self.big1 = big1
        self.small0 = small0
        self.small1 = small1
    }
}

private func digest<Word: FixedWidthInteger & UnsignedInteger>(
    of message: [UInt8],
    rounds: Int,
    _: Word.Type,
    _ mixing: Mixing
) -> [UInt8] {
    let wordSize = Word.bitWidth / 8
    let bytes = padded(message, blockSize: 16 * wordSize)
    let constants: [Word] = cubeRoots.prefix(rounds).map(leadingBits)
    var state: [Word] = squareRoots.map(leadingBits)
    var schedule = [Word](repeating: 0, count: rounds)
    for block in stride(from: 0, to: bytes.count, by: 16 * wordSize) {
        for index in 0..<16 {
            let start = block + index * wordSize
            schedule[index] = bytes[start..<start + wordSize].reduce(0) { $0 << 8 | Word($1) }
        }
        for index in 16..<rounds {
            let late = small(schedule[index - 2], mixing.small1) &+ schedule[index - 7]
            schedule[index] = late &+ small(schedule[index - 15], mixing.small0) &+ schedule[index - 16]
        }
        compress(&state, schedule, constants, mixing)
    }
    return state.flatMap(bigEndianBytes)
}

/// One block; a…h are the working variables of the standard.
private func compress<Word: FixedWidthInteger & UnsignedInteger>(
    _ state: inout [Word],
    _ schedule: [Word],
    _ constants: [Word],
    _ mixing: Mixing
) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in schedule.indices {
        let choice = (e & f) ^ (~e & g)
        let majority = (a & b) ^ (a & c) ^ (b & c)
        let mixed = h &+ big(e, mixing.big1) &+ choice &+ constants[index] &+ schedule[index]
        (h, g, f, e) = (g, f, e, d &+ mixed)
        (d, c, b, a) = (c, b, a, mixed &+ big(a, mixing.big0) &+ majority)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
}

/// The message, a one bit, zeros, and the length in bits as a big-endian number at the end of the last block.
private func padded(_ message: [UInt8], blockSize: Int) -> [UInt8] {
    var bytes = message
    bytes.append(0x80)
    // The standard gives the length an eighth of a block. 64 bits hold any length in memory; the rest of the field are zeros too.
    let field = blockSize / 8
    let fill = blockSize - 1 - (bytes.count + field - 1) % blockSize
    bytes.append(contentsOf: repeatElement(0, count: fill + field - 8))
    bytes.append(contentsOf: bigEndianBytes(UInt64(message.count) * 8))
    return bytes
}

private func big<Word: FixedWidthInteger>(_ word: Word, _ by: Mixing.Counts) -> Word {
    rotated(word, by.0) ^ rotated(word, by.1) ^ rotated(word, by.2)
}

private func small<Word: FixedWidthInteger>(_ word: Word, _ by: Mixing.Counts) -> Word {
    rotated(word, by.0) ^ rotated(word, by.1) ^ (word >> by.2)
}

private func rotated<Word: FixedWidthInteger>(_ word: Word, _ count: Int) -> Word {
    (word >> count) | (word << (Word.bitWidth - count))
}

private func bigEndianBytes<Word: FixedWidthInteger>(_ word: Word) -> [UInt8] {
    withUnsafeBytes(of: word.bigEndian, Array.init)
}

/// SHA-256 takes the upper halves of SHA-512's constants: both are the first bits of the same irrational numbers.
private func leadingBits<Word: FixedWidthInteger>(_ constant: UInt64) -> Word {
    Word(constant >> UInt64(64 - Word.bitWidth))
}

/// The first 64 bits of the fractional parts of the square roots of the first 8 primes.
private let squareRoots: [UInt64] = [
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
]

/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes.
private let cubeRoots: [UInt64] = [
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
]
