import ModelFormat

extension NSEntityDescription {
    /// Asks for the property that a misspelt name most likely stands for, or says where an operator can stand; empty where none is near.
    func hint(for key: String) -> String {
        if key.hasPrefix("@") {
            return " Operators on collections stand behind a relationship to many; for all objects there are functions, such as "
                + "max:(number), as columns of a fetch for dictionaries."
        }
        return CoreData.hint(for: key, among: propertiesByName.keys.sorted())
    }

    func hint(forRelationship key: String) -> String { CoreData.hint(for: key, among: relationshipsByName.keys.sorted()) }
}

extension NSManagedObjectModel {
    /// Asks for the entity that a misspelt name most likely stands for; empty where none is near.
    func hint(forEntity name: String) -> String {
        // NB: Linux names each class with its module, which `@objc(Book)` leaves out on a Mac.
        let plain = name.split(separator: ".").last.map(String.init) ?? name
        return CoreData.hint(for: plain, among: entitiesByName.keys.sorted())
    }

    /// The same for a model that the program has registered.
    static func hint(forModel name: String) -> String { CoreData.hint(for: name, among: registeredNames.sorted()) }
}

private func hint(for name: String, among names: [String]) -> String { nearest(to: name, among: names).map { " Is “\($0)” meant?" } ?? "" }
