import Foundation

@testable import CoreData

/// An entity with attributes of the types whose values rows hold in another form.
final class Gadget: NSManagedObject {
    enum Keys {
        static let name = Attribute<String>("name")
        static let price = Attribute<Decimal>("price")
        static let rebate = Attribute<Decimal?>("rebate")
        static let home = Attribute<URL?>("home")
        static let manual = Attribute<URL>("manual")
    }

    var name: String {
        get { self[Keys.name] }
        set { self[Keys.name] = newValue }
    }
    var price: Decimal {
        get { self[Keys.price] }
        set { self[Keys.price] = newValue }
    }
    var rebate: Decimal? {
        get { self[Keys.rebate] }
        set { self[Keys.rebate] = newValue }
    }
    var home: URL? {
        get { self[Keys.home] }
        set { self[Keys.home] = newValue }
    }
    var manual: URL {
        get { self[Keys.manual] }
        set { self[Keys.manual] = newValue }
    }
    /// As Xcode generates it.
    var tags: [String]? {
        get { value(forKey: "tags") as? [String] }
        set { setValue(newValue, forKey: "tags") }
    }

    static func makeEntity(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = "Gadget"
        entity.managedObjectClassName = NSStringFromClass(Gadget.self)
        entity.properties = [
            attribute("name", .string), attribute("price", .decimal), attribute("rebate", .decimal), attribute("home", .uri),
            attribute("manual", .uri), attribute("tags", .transformable), attribute("shape", .transformable),
        ]
        change(entity)
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        return attribute
    }
}

/// A value class that archives itself.
final class Badge: NSObject, NSSecureCoding {
    let corners: Int
    let name: String

    init(corners: Int, name: String) {
        self.corners = corners
        self.name = name
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        coder.encode(corners, forKey: "corners")
        coder.encode(name as NSString, forKey: "name")
    }

    init?(coder: NSCoder) {
        corners = coder.decodeInteger(forKey: "corners")
        name = (coder.decodeObject(forKey: "name") as? String) ?? ""
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Badge else { return false }
        return other.corners == corners && other.name == name
    }
}
