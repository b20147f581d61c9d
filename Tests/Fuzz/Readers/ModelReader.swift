import CoreData
import Foundation
import ModelFormat

/// Reads files of one kind that may be anything, and uses all that was made of them.
package final class ModelReader {
    package enum Kind: String, CaseIterable, Sendable {
        /// The `contents` of an `.xcdatamodel`.
        case source
        /// A `.mom`.
        case archive
        /// The `xcmapping.xml` of a mapping model, and the compiled form.
        case mappingSource, mappingArchive
        /// What says in a bundle of sources, or of compiled models, which version is current.
        case currentVersion, versionInfo
        /// The data of a transformable attribute.
        case object

        /// Whether the files are archives, whose objects refer to each other.
        package var isArchive: Bool { [.archive, .mappingArchive, .object].contains(self) }
    }

    package let kind: Kind
    private let bundle: SampleBundle?

    package init(_ kind: Kind) throws {
        self.kind = kind
        bundle =
            switch kind {
            case .currentVersion: try SampleBundle(isCompiled: false)
            case .versionInfo: try SampleBundle(isCompiled: true)
            default: nil
            }
    }

    /// Whether the data is a file of this kind that can be used.
    ///
    /// - Precondition: for one that cannot, the reader's error is one for people with a bad file. Any other stops the program, as a trap does.
    package func accepts(_ data: Data) -> Bool {
        do {
            try read(data)
            return true
        } catch is ModelFormatError {
            return false
        } catch let error as CocoaError where [.coreData, .fileReadCorruptFile].contains(error.code) {
            return false
        } catch {
            fatalError("\(kind): no error for somebody who has a bad file: \(error)")
        }
    }

    private func read(_ data: Data) throws {
        switch kind {
        case .source: try Model(xml: data).use()
        case .archive: try Model(archive: data).use()
        case .mappingSource: _ = try MappingModel(xml: data)
        case .mappingArchive: _ = try MappingModel(archive: data)
        case .currentVersion, .versionInfo: try bundle?.read(data)
        case .object: _ = try ObjectUnarchiver.object(in: data)
        }
    }
}
