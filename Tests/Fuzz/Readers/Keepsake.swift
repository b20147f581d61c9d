import Foundation

/// An object that archives itself, as programs have them.
final class Keepsake: NSObject, NSCoding {
    private let name: String?
    private let content: Any?

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String
        content = coder.decodeObject(forKey: "content")
    }

    func encode(with coder: NSCoder) {
        coder.encode(name.map { NSString(string: $0) }, forKey: "name")
        coder.encode(content, forKey: "content")
    }
}
