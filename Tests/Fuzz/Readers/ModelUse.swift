import CoreData
import Foundation
import ModelFormat

extension Model {
    /// Writes the model in both forms and reads them again, and makes descriptions of it.
    ///
    /// - Throws: why there are no descriptions of it.
    /// - Precondition: what was written is read, and written in the same way.
    func use() throws {
        writeAgain("a source", { try $0.xml() }, { try Model(xml: $0) })
        let described = try NSManagedObjectModel(self)
        writeAgain("an archive", { try $0.archived(parser: .predicates) }, { try Model(archive: $0) })
        described.use()
    }

    private func writeAgain(_ form: String, _ write: (Model) throws -> Data, _ read: (Data) throws -> Model) {
        // Not everything can be written; but what was written can be read.
        guard let first = try? write(self) else { return }
        do {
            // An archive has an order of its own, which a source need not have.
            let second = try write(read(first))
            let third = try write(read(second))
            if second != third { fatalError("\(form) changes each time: \(second.readable)\n\(third.readable)") }
        } catch {
            fatalError("\(form) that was written is no good: \(error): \(first.readable)")
        }
    }
}

extension Data {
    /// Text as it is, anything else in Base64.
    fileprivate var readable: String { String(validating: self, as: UTF8.self) ?? base64EncodedString() }
}

extension NSManagedObjectModel {
    fileprivate func use() {
        let hashes = entityVersionHashesByName
        _ = (versionChecksum, fetchRequestTemplatesByName)
        guard let copy = copy() as? NSManagedObjectModel, copy.entityVersionHashesByName == hashes else {
            fatalError("the copy has other hashes")
        }
        _ = NSManagedObjectModel(byMerging: [self, copy])?.versionChecksum
    }
}
