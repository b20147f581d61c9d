import Foundation
import Testing

@testable import CoreData

@Suite("A model that makes no sense")
struct ModelMisuseTests {
    @Test("is described in a sentence that names what is wrong")
    func problems() {
        let (a, b) = (NSEntityDescription("A", attribute("x")), NSEntityDescription("B"))
        let loose = NSRelationshipDescription()
        loose.name = "loose"
        a.properties.append(loose)
        let oneSided = a.relate("oneSided", to: b)
        oneSided.inverseRelationship = b.relate("back", to: a)
        a.relate("away", to: NSEntityDescription("Elsewhere"))
        a.properties.append(attribute("untyped", .undefined))
        a.uniquenessConstraints = [["nothing"]]
        b.properties.append(attribute("a b"))
        let model = NSManagedObjectModel(a, b)

        let problems = model.problems().joined(separator: "\n")
        for named in ["A.loose has no destination", "A.oneSided has inverse B.back", "A.untyped has no type", "names nothing", "“a b”"] {
            #expect(problems.contains(named), "\(problems)")
        }
        #expect(throws: CocoaError.self) { try model.validate() }
    }

    @Test("may not redeclare an inherited property, however it came about")
    func redeclared() {
        let (parent, child) = (NSEntityDescription("P", attribute("x")), NSEntityDescription("C", attribute("x")))
        parent.subentities = [child]
        #expect(NSManagedObjectModel(parent, child).problems().contains { $0.contains("C.x") && $0.contains("P.x") })
    }

    @Test("may not leave out a subentity")
    func incompleteTree() {
        let parent = NSEntityDescription("P", subentities: [NSEntityDescription("C")])
        #expect(NSManagedObjectModel(parent).problems().contains { $0.contains("C is related to P") })
    }

    @Test("accepts an inverse that the destination inherits, a relationship that is its own inverse, and names in any script")
    func accepted() {
        let (a, base, sub) = (NSEntityDescription("A"), NSEntityDescription("Größe"), NSEntityDescription("Sub", attribute("имя")))
        base.subentities = [sub]
        let inverse = base.relate("a", to: a)
        a.relate("subs", to: sub, many: true, inverse: inverse)
        let friends = a.relate("friends", to: a, many: true)
        friends.inverseRelationship = friends
        #expect(NSManagedObjectModel(a, base, sub).problems() == [])
    }

    @Test("cannot be changed once it is frozen")
    func frozen() async {
        await #expect(processExitsWith: .failure) {
            let model = NSManagedObjectModel(NSEntityDescription("A", attribute("x"))).frozen()
            model.entities[0].properties[0].name = "y"
        }
        await #expect(processExitsWith: .failure) {
            NSManagedObjectModel(NSEntityDescription("A")).frozen().entities[0].properties = [attribute("x")]
        }
        await #expect(processExitsWith: .failure) { NSManagedObjectModel().frozen().entities = [] }
        await #expect(processExitsWith: .failure) { NSManagedObjectModel(NSEntityDescription("")).freeze() }
    }

    @Test("does not take a property or an entity from another owner")
    func stolen() async {
        await #expect(processExitsWith: .failure) {
            let shared = attribute("x")
            let first = NSEntityDescription("A", shared)
            withExtendedLifetime(first) { _ = NSEntityDescription("B", shared) }
        }
        await #expect(processExitsWith: .failure) {
            let entity = NSEntityDescription("A")
            let first = NSManagedObjectModel(entity)
            withExtendedLifetime(first) { _ = NSManagedObjectModel(entity) }
        }
        await #expect(processExitsWith: .failure) {
            let (parent, child) = (NSEntityDescription("P"), NSEntityDescription("C"))
            parent.subentities = [child]
            child.subentities = [parent]
        }
    }

    @Test(
        "names the attribute that a store cannot keep yet",
        arguments: [NSAttributeDescription.AttributeType.composite, .objectID]
    )
    func unsupported(type: NSAttributeDescription.AttributeType) throws {
        let model = NSManagedObjectModel(NSEntityDescription("A", attribute("odd", type))).frozen()
        let error = #expect(throws: CocoaError.self) { try model.requireStorableAttributes(forConfigurationName: nil, isComputing: true) }
        #expect(error?.code == .coreData)
        #expect(error.map { $0.userInfo[NSLocalizedDescriptionKey] as? String ?? "" }?.contains("odd of entity A") == true)

        let transient = attribute("odd", type)
        transient.isTransient = true
        try NSManagedObjectModel(NSEntityDescription("A", transient)).frozen().requireStorableAttributes(
            forConfigurationName: nil,
            isComputing: true
        )
    }
}
