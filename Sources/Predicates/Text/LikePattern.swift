/// A pattern with wildcards, over UTF-8 bytes.
struct LikePattern: Sendable {
    private enum Element {
        case byte(UInt8)
        case anyScalar
        case anything
    }

    private var elements: [Element] = []

    init(_ pattern: [UInt8]) {
        var isEscaped = false
        for byte in pattern {
            switch byte {
            case _ where isEscaped:
                elements.append(.byte(byte))
                isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "?"): elements.append(.anyScalar)
            case UInt8(ascii: "*"): elements.append(.anything)
            default: elements.append(.byte(byte))
            }
        }
        // A backslash that has nothing to escape means itself.
        if isEscaped { elements.append(.byte(UInt8(ascii: "\\"))) }
    }

    /// Goes back to the last `*` only: an earlier one cannot do better.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var position = 0
        var element = 0
        var retry: (element: Int, position: Int)?
        while position < text.count || element < elements.count {
            if element < elements.count {
                if case .anything = elements[element] {
                    element += 1
                    retry = (element, position)
                    continue
                }
                if let length = length(of: elements[element], at: position, in: text) {
                    position += length
                    element += 1
                    continue
                }
            }
            guard let last = retry, last.position < text.count else { return false }
            retry = (last.element, last.position + scalarLength(at: last.position, in: text))
            element = last.element
            position = last.position + scalarLength(at: last.position, in: text)
        }
        return true
    }

    /// How many bytes the element takes here; nil where it does not fit.
    private func length(of element: Element, at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard position < text.count else { return nil }
        return switch element {
        case .byte(let byte): text[position] == byte ? 1 : nil
        case .anyScalar: scalarLength(at: position, in: text)
        case .anything: 0
        }
    }

    private func scalarLength(at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        var end = position + 1
        while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
        return end - position
    }
}
