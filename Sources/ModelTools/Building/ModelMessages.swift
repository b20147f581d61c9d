import Foundation
import ModelFormat

extension ModelFile {
    /// What is to be said about the source of the current version: what is unknown or contradicts itself as errors, warnings
    /// as such.
    ///
    /// Silenced are places in `silence`, and entities and properties whose user info has the key `CoreDataWarnings` with the value `NO`.
    func messages(silence: Set<String>) throws -> [SourceMessage] {
        guard let (path, source) = try source() else { return [] }
        let unknown = source.unknowns.filter { !silence.contains($0.subject) }.map { $0.message(about: path) }
        let warned = warnings(in: source.model).filter {
            $0.isError || !silence.contains($0.place) && !source.model.isSilent(at: $0.place)
        }
        return unknown
            + warned.map { warning in
                let line = source.line(of: warning.place.split(separator: ".").map(String.init))
                return SourceMessage(warning.isError ? .error : .warning, path, SourcePlace(line: line, column: 1), warning.description)
            }
    }
}

extension Model {
    fileprivate func isSilent(at place: String) -> Bool {
        let names = place.split(separator: ".").map(String.init)
        guard let entity = entities.first(where: { $0.name == names.first }) else { return false }
        let infos =
            [entity.userInfo] + entity.attributes.filter { $0.name == names.last }.map(\.userInfo)
            + entity.relationships.filter { $0.name == names.last }.map(\.userInfo)
        return infos.contains { $0["CoreDataWarnings"] == .string("NO") }
    }
}

extension ModelFormatError {
    /// The word that an error about an unknown word begins with.
    fileprivate var subject: String { String(reason.prefix { $0 != " " }) }

    /// In the form of compilers.
    public func message(about path: String) -> SourceMessage {
        guard case .line(let line)? = place else { return SourceMessage(.error, file ?? path, nil, reason) }
        return SourceMessage(.error, file ?? path, SourcePlace(line: line, column: 1), reason)
    }
}

extension GenerationError {
    /// Each reason at the line of what it is about.
    func messages(about file: ModelFile) throws -> [SourceMessage] {
        let source = try file.source()
        return zip(reasons, places).map { reason, place in
            SourceMessage(.error, source?.path ?? file.path, source.map { SourcePlace(line: $0.file.line(of: place), column: 1) }, reason)
        }
    }
}
