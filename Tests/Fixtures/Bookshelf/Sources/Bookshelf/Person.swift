import CoreData

/// Written by hand, as the model's Codegen setting "Category/Extension" wants it; the properties are generated.
public class Person: NSManagedObject {
    var greeting: String { "I am \(name ?? "nobody")" }
}
