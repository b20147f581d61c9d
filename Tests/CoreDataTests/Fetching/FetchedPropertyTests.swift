import Foundation
import ModelFormat
import Testing

@testable import CoreData

@Suite("A fetched property")
struct FetchedPropertyTests {
    private static let source = """
        <entity name="Song">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="price" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
            <relationship name="album" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="songs"/>
            <fetchedProperty name="cheaper" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Song" predicateString="price &lt; $FETCH_SOURCE.price"/>
            </fetchedProperty>
            <fetchedProperty name="others" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Song" fetchLimit="9" \
        predicateString="self != $FETCH_SOURCE AND album == $FETCH_SOURCE.album AND $FETCHED_PROPERTY.name == 'others' AND title != $FETCHED_PROPERTY.userInfo.without"/>
                <userInfo><entry key="without" value="hidden"/></userInfo>
            </fetchedProperty>
        </entity>
        <entity name="Album">
            <relationship name="songs" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Song" inverseName="album"/>
        </entity>
        """

    private func model(_ source: String = source) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(Model(xml: Data("<model>\(source)</model>".utf8)))
    }

    private func stack(_ model: NSManagedObjectModel) throws -> (store: SQLiteStore, context: NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return (try #require(store as? SQLiteStore), Library.context(on: coordinator))
    }

    private func song(_ title: String, _ price: Int, in context: NSManagedObjectContext) -> NSManagedObject {
        let song = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        song.setValuesForKeys(["title": title, "price": price])
        return song
    }

    private func titles(_ key: String, of song: NSManagedObject) -> [String] {
        let songs = song.value(forKey: key) as? [NSManagedObject]
        return songs.map { $0.compactMap { $0.value(forKey: "title") as? String }.sorted() } ?? ["no array"]
    }

    @Test("of a file has the request that the file describes")
    func described() throws {
        let model = try model()
        let song = try #require(model.entitiesByName["Song"])
        let cheaper = try #require(song.propertiesByName["cheaper"] as? NSFetchedPropertyDescription)
        let request = try #require(cheaper.fetchRequest)
        #expect(request.entity === song && request.predicate?.printedFormat == "price < $FETCH_SOURCE.price")
        #expect((song.propertiesByName["others"] as? NSFetchedPropertyDescription)?.fetchRequest?.fetchLimit == 9)
    }

    // * A property gets a request, which is changed afterwards.
    // * The model is copied, and the first one let go of.
    // => The request is as it was set, and for the entity of the model that it is asked of.
    @Test("has the request that it was given, in each model that it is copied into")
    func given() throws {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        let property = NSFetchedPropertyDescription()
        #expect(property.fetchRequest == nil)
        property.name = "all"
        weak var original: NSEntityDescription?
        let copy: NSManagedObjectModel
        do {
            let first = try model()
            let song = try #require(first.entitiesByName["Song"])
            (request.entity, request.fetchLimit) = (song, 3)
            property.fetchRequest = request
            request.fetchLimit = 5
            request.entity = nil
            #expect(property.fetchRequest?.entityName == "Song", "It has no model yet, and the entity's name all the same.")
            song.properties.append(property)
            #expect(property.fetchRequest?.entity === song)
            original = song
            copy = try #require(first.copy() as? NSManagedObjectModel)
        }
        let copied = try #require(copy.entitiesByName["Song"]?.propertiesByName["all"] as? NSFetchedPropertyDescription)
        #expect(copied.fetchRequest?.entity === copy.entitiesByName["Song"] && copied.fetchRequest?.fetchLimit == 3)
        #expect(original == nil, "A request does not keep its entity.")
    }

    // * Three songs are saved and one is not; two of them are of one album.
    // => The properties find saved and unsaved ones, by the values of the object that has the property.
    @Test("finds objects by the values of its own object", arguments: [false, true])
    func fetching(throughChild: Bool) throws {
        let (_, context) = try stack(model())
        let (dear, cheap, middle) = (song("dear", 9, in: context), song("cheap", 1, in: context), song("middle", 5, in: context))
        let hidden = song("hidden", 20, in: context)
        let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
        album.setValue(Set([dear, cheap, hidden]), forKey: "songs")
        try context.save()
        let reader = throughChild ? Layers.child(of: context, "reader") : context
        let free = song("free", 0, in: reader)
        let (ownDear, ownMiddle) = (reader.object(with: dear.objectID), reader.object(with: middle.objectID))
        #expect(titles("cheaper", of: ownDear) == ["cheap", "free", "middle"])
        #expect(titles("cheaper", of: ownMiddle) == ["cheap", "free"] && titles("cheaper", of: free) == [])
        #expect(titles("others", of: ownDear) == ["cheap"])
        #expect(titles("others", of: ownMiddle) == ["free"], "Neither has an album.")
    }

    @Test("asks the store for no more than what belongs to it")
    func statement() throws {
        let (store, context) = try stack(model())
        let dear = song("dear", 9, in: context)
        try context.save()
        let statements = store.counter.recording { #expect(titles("others", of: dear) == []) }
        #expect(statements.count == 1 && statements.first?.contains("ZALBUM IS NULL") == true, "\(statements)")
    }

    // * A property is read, and then another song comes.
    // => It has what it had, without a statement, until the object is refreshed, with its changes or without.
    @Test("keeps what it found until its object is refreshed, and changes nothing")
    func keeping() throws {
        let (store, context) = try stack(model())
        let (dear, _) = (song("dear", 9, in: context), song("cheap", 1, in: context))
        try context.save()
        #expect(dear.primitiveValue(forKey: "cheaper") == nil)
        #expect(titles("cheaper", of: dear) == ["cheap"])
        _ = song("free", 0, in: context)
        var again: [String] = []
        #expect(store.counter.recording { again = titles("cheaper", of: dear) } == [] && again == ["cheap"])
        #expect((dear.primitiveValue(forKey: "cheaper") as? [NSManagedObject])?.count == 1)
        context.refresh(dear, mergeChanges: true)
        #expect(titles("cheaper", of: dear) == ["cheap", "free"])
        _ = song("gift", 0, in: context)
        context.refresh(dear, mergeChanges: false)
        #expect(titles("cheaper", of: dear) == ["cheap", "free", "gift"])
        #expect(!dear.hasChanges && dear.changedValues().isEmpty && dear.committedValues(forKeys: nil)["cheaper"] == nil)
    }

    @Test("does not keep its context's objects alive when the context is gone")
    func cycle() throws {
        weak var gone: NSManagedObject?
        do {
            let (_, context) = try stack(model())
            let (dear, dearer) = (song("dear", 9, in: context), song("dearer", 10, in: context))
            try context.save()
            #expect(titles("cheaper", of: dearer) == ["dear"] && titles("others", of: dear) == ["dearer"])
            gone = dear
        }
        #expect(gone == nil)
    }

    // => It is nil, and an object reads it as empty.
    @Test("whose request cannot be used is an empty one")
    func unusable() throws {
        let fetch = #"<fetchRequest name="r" entity="Song" predicateString="title =="/>"#
        let text = #"<entity name="Song"><fetchedProperty name="x">\#(fetch)</fetchedProperty></entity>"#
        let model = try model(text)
        #expect((model.entitiesByName["Song"]?.propertiesByName["x"] as? NSFetchedPropertyDescription)?.fetchRequest == nil)
        let (_, context) = try stack(model)
        let song = NSEntityDescription.insertNewObject(forEntityName: "Song", into: context)
        #expect(titles("x", of: song) == [])
    }

    @Test("that is set stops the program with a sentence")
    func setting() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let property = NSFetchedPropertyDescription()
            property.name = "all"
            let entity = NSEntityDescription()
            entity.name = "Song"
            entity.properties = [property]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let context = Library.context(on: NSPersistentStoreCoordinator(managedObjectModel: model))
            NSManagedObject(entity: entity, insertInto: context).setValue([], forKey: "all")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Song.all is a fetched property and cannot be set"), "\(text)")
    }
}
