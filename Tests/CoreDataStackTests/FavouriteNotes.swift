import Foundation
import Testing

@testable import CoreData

extension NoteModel {
    /// A folder may have a favourite, which is not another's. No two notes have one text.
    static func withFavourites(ordersNotes: Bool = false) throws -> NSManagedObjectModel {
        let model = make(uniqueTexts: true, ordersNotes: ordersNotes)
        let (folder, note) = (try #require(model.entitiesByName["Folder"]), try #require(model.entitiesByName["Note"]))
        let (favourite, admirer) = (NSRelationshipDescription(), NSRelationshipDescription())
        (favourite.name, favourite.destinationEntity, favourite.inverseRelationship, favourite.maxCount) = ("favourite", note, admirer, 1)
        (admirer.name, admirer.destinationEntity, admirer.inverseRelationship, admirer.maxCount) = ("admirer", folder, favourite, 1)
        folder.properties.append(favourite)
        note.properties.append(admirer)
        return model
    }
}

extension NSManagedObjectContext {
    /// The note with that text.
    func note(saying text: String) throws -> Note {
        try #require(try fetch(NSFetchRequest<Note>(entityName: "Note")).first { $0.text == text })
    }

    /// Puts a note into the folder of that name, as its favourite too.
    func move(_ note: Note, into name: String) throws {
        let folder = try fetch(NSFetchRequest<Folder>(entityName: "Folder")).first { $0.name == name }
        note.folder = folder
        note.setValue(folder, forKey: "admirer")
    }

    /// The texts of each folder's notes, and of its favourite.
    func favourites() throws -> [String] {
        try fetch(NSFetchRequest<Folder>(entityName: "Folder")).map { folder in
            let notes = folder.entity.relationshipsByName["notes"]?.isOrdered == true ? folder.orderedNotes : Array(folder.notes)
            let texts = notes.compactMap(\.text) + [(folder.value(forKey: "favourite") as? Note)?.text].compactMap(\.self)
            return "\(folder.name ?? ""): \(texts.isEmpty ? "-" : texts.joined(separator: " "))"
        }.sorted()
    }
}
