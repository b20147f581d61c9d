import CoreData
import Foundation

@objc(Recipe)
public class Recipe: Entry {
    public override func validateForUpdate() throws {
        try super.validateForUpdate()
        guard rating > 4.9, steps?.count == 0 else { return }
        throw NSError(
            domain: NSCocoaErrorDomain,
            code: NSManagedObjectValidationError,
            userInfo: [
                NSLocalizedDescriptionKey: "A recipe without steps is not that good",
                NSValidationKeyErrorKey: #keyPath(Recipe.rating),
            ]
        )
    }

    public override func awakeFromFetch() {
        super.awakeFromFetch()
        updateMinutes()
    }

    public override func willSave() {
        super.willSave()
        if let name = primitiveValue(forKey: #keyPath(name)) as? String, name.hasSuffix(" ") {
            setPrimitiveValue(name.trimmingCharacters(in: .whitespaces), forKey: #keyPath(name))
        }
    }

    func updateMinutes() {
        let seconds = (value(forKeyPath: "steps.@sum.seconds") as? NSNumber)?.intValue ?? 0
        setPrimitiveValue(NSNumber(value: seconds / 60), forKey: "minutes")
    }

    /// The sections' names.
    @objc dynamic var firstLetter: String {
        willAccessValue(forKey: "name")
        defer { didAccessValue(forKey: "name") }
        return String((primitiveValue(forKey: "name") as? String ?? "?").prefix(1)).uppercased()
    }
}
