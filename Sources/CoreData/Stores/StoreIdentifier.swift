extension String {
    /// Whether it can identify a store: it is part of the URIs of all objects there.
    var isStoreIdentifier: Bool { !isEmpty && utf8.allSatisfy(isPlain) }
}

/// Letters, digits and the hyphen.
private func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: byte == UInt8(ascii: "-")
    }
}
