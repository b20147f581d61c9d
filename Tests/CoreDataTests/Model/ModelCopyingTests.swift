import Foundation
import Testing

@testable import CoreData

@Suite("A copy")
struct ModelCopyingTests {
    private func library() -> NSManagedObjectModel {
        let book = NSEntityDescription("Book", attribute("title"))
        let comic = NSEntityDescription("Comic", attribute("isColoured", .boolean))
        let author = NSEntityDescription("Author", attribute("name"))
        book.subentities = [comic]
        author.relate("books", to: book, many: true, inverse: book.relate("author", to: author))
        book.uniquenessConstraints = [["title"]]
        let element = NSFetchIndexElementDescription(property: book.properties[0], collationType: .binary)
        element.isAscending = false
        book.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
        let model = NSManagedObjectModel(book, comic, author)
        model.versionIdentifiers = ["1"]
        model.setEntities([author], forConfigurationName: "People")
        return model
    }

    @Test("equals its original by content, models as entities, with equal hashes; and no longer once it is edited")
    func equality() throws {
        let original = library().frozen()
        let copy = try #require(original.copy() as? NSManagedObjectModel)
        #expect(copy == original && copy.hash == original.hash && copy == library() && Set([copy, original]).count == 1)
        for (name, entity) in original.entitiesByName {
            let other = try #require(copy.entitiesByName[name])
            #expect(other == entity && other !== entity && other.hash == entity.hash)
        }
        let (book, author) = (try #require(copy.entitiesByName["Book"]), try #require(copy.entitiesByName["Author"]))
        let originalBook = try #require(original.entitiesByName["Book"])
        #expect(book != author && book != original.entitiesByName["Comic"] && [book: 1][originalBook] == 1)
        #expect(book.copy() as? NSEntityDescription == book && !book.isEqual(nil) && !book.isEqual("Book"))
        for property in originalBook.properties {
            let same = try #require(property.copy() as? NSPropertyDescription)
            #expect(same == property && same.hash == property.hash && book.propertiesByName[property.name] == property)
            same.isOptional.toggle()
            #expect(same != property)
        }
        author.managedObjectClassName = "Other"
        #expect(author != original.entitiesByName["Author"] && copy != original)
        author.managedObjectClassName = nil
        #expect(copy == original)
        book.properties.append(attribute("pages", .integer32))
        #expect(
            book != original.entitiesByName["Book"] && copy.entitiesByName["Comic"] != original.entitiesByName["Comic"] && copy != original
        )
        let regrouped = library()
        regrouped.setEntities([], forConfigurationName: "People")
        #expect(regrouped != original)
    }

    // The caller's model stays frozen; its copy can be edited, and leads nowhere into the original.
    @Test("of a frozen model is editable, equal in hashes and separate in everything")
    func ofModel() throws {
        let original = library().frozen()
        let copy = try #require(original.copy() as? NSManagedObjectModel)
        #expect(!copy.isFrozen)
        #expect(copy.entityVersionHashesByName == original.entityVersionHashesByName)
        #expect(copy.versionIdentifiers == ["1"])
        #expect(copy.entities(forConfigurationName: "People")?.map(\.name) == ["Author"])

        let (book, author) = (try #require(copy.entitiesByName["Book"]), try #require(copy.entitiesByName["Author"]))
        #expect(book.relationshipsByName["author"]?.destinationEntity === author)
        #expect(book.relationshipsByName["author"]?.inverseRelationship === author.relationshipsByName["books"])
        #expect(copy.entitiesByName["Comic"]?.superentity === book)
        #expect(book.indexes[0].elements[0].property === book.propertiesByName["title"])
        #expect(!book.indexes[0].elements[0].isAscending && book.indexes[0].entity === book)

        book.properties.append(attribute("pages", .integer32))
        #expect(original.entitiesByName["Book"]?.propertiesByName["pages"] == nil)
        copy.freeze()
    }

    @Test("of an entity takes its subentities along and leads to the original's other entities")
    func ofEntity() throws {
        let original = library()
        let book = try #require(original.entitiesByName["Book"]?.copy() as? NSEntityDescription)
        #expect(book.subentities.map(\.name) == ["Comic"])
        #expect(book !== original.entitiesByName["Book"] && book.model == nil)
        #expect(book.relationshipsByName["author"]?.destinationEntity === original.entitiesByName["Author"])
    }

    @Test("of a property keeps its kind, its settings and no entity")
    func ofProperty() throws {
        let composite = NSCompositeAttributeDescription()
        composite.name = "place"
        composite.elements = [attribute("x", .double)]
        composite.setValidationPredicates([NSPredicate(value: false)], withValidationWarnings: ["1550"])
        composite.renamingIdentifier = "location"
        _ = NSEntityDescription("A", composite)
        let copy = try #require(composite.copy() as? NSCompositeAttributeDescription)
        #expect(copy.owner == nil && copy.renamingIdentifier == "location" && copy.validationWarnings as? [String] == ["1550"])
        #expect(copy.elements.map(\.name) == ["x"] && copy.elements[0] !== composite.elements[0])
    }

    @Test("by merging takes an entity once that two models define alike, and links across models")
    func merging() throws {
        let merged = try #require(
            NSManagedObjectModel(byMerging: [library(), library(), NSManagedObjectModel(NSEntityDescription("Shop"))])
        )
        #expect(Set(merged.entities.compactMap(\.name)) == ["Book", "Comic", "Author", "Shop"])
        #expect(merged.problems() == [])
        #expect(merged.entities(forConfigurationName: "People")?.count == 1)
        #expect(NSManagedObjectModel(byMerging: nil) == nil)
    }

    @Test("by merging for a store takes exactly the store's entities, or fails")
    func mergingForStore() throws {
        let models = [library(), NSManagedObjectModel(NSEntityDescription("Shop"))]
        let hashes = library().entityVersionHashesByName
        let found = NSManagedObjectModel(byMerging: models, forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
        #expect(found?.entityVersionHashesByName == hashes)
        let unknown = [NSStoreModelVersionHashesKey: hashes.merging(["Lost": Data(count: 32)]) { $1 }]
        #expect(NSManagedObjectModel(byMerging: models, forStoreMetadata: unknown) == nil)
    }

    // * Versions in which authors get more and more attributes, and books are the same, in any order; the store has one version, or its books only
    //   in a model with others.
    // => The model of that version, whose books lead to its own authors.
    @Test("by merging versions for a store is the store's, whatever is the same in several", arguments: 0..<3, [false, true])
    func mergingVersions(store: Int, isPart: Bool) throws {
        func version(_ number: Int) -> NSManagedObjectModel {
            let model = library()
            model.entitiesByName["Author"]?.properties += (0..<number).map { attribute("more\($0)") }
            if isPart { model.entities += [NSEntityDescription("Part\(number)")] }
            model.versionIdentifiers = ["\(number)"]
            return model
        }
        let hashes = version(store).entityVersionHashesByName.filter { !$0.key.hasPrefix("Part") }
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let metadata = [NSStoreModelVersionHashesKey: hashes]
            let found = try #require(NSManagedObjectModel(byMerging: order.map(version), forStoreMetadata: metadata))
            #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            #expect(found.entityVersionHashesByName == hashes)
            #expect(found.entitiesByName["Book"]?.relationshipsByName["author"]?.destinationEntity === found.entitiesByName["Author"])
            if !isPart { #expect(found.versionIdentifiers == ["\(store)"]) }
        }
    }
}
