import Foundation

extension Model {
    /// Reads a `.mom`, or another keyed archive of a managed object model such as a store's copy of its model.
    ///
    /// Entities and properties are in the order of their names, because an archive has none. Keys that are unknown are passed over.
    ///
    /// - Throws: `ModelFormatError` with an offset or the number of an object.
    public init(archive data: Data) throws {
        let root = try ArchiveReader(data).root()
        guard root.className == "NSManagedObjectModel" else { throw root.error("the archive holds no managed object model") }
        self = try ModelReader(root).model()
        if let problem = problems().first { throw root.error(problem.sentence) }
    }

    /// The model as a `.mom`. Reading it gives an equal model, if this one is from a `.mom` too.
    ///
    /// Left out is what a compiled model has no place for: layout, code generation, scalar types, and whatever only editors need. The
    /// file has no version hashes; they are in the bundle's list of versions.
    ///
    /// - Throws: `ModelFormatError` for a predicate or expression that the parser leaves as text, and for what `problems()` tells.
    public func archived(parser: ModelTextParser = .none) throws -> Data {
        if let problem = problems().first { throw ModelFormatError(nil, problem.sentence) }
        var writer = ModelWriter(self, parser)
        return Data(try writer.bytes())
    }

    /// The model as the archive that Core Data keeps in a store, where entities have what they inherit as properties of their own.
    ///
    /// - Throws: `ModelFormatError` for a predicate or expression that is text.
    package func cacheArchive() throws -> [UInt8] {
        var writer = ModelWriter(self, .none, form: .cache)
        return try writer.bytes()
    }
}
