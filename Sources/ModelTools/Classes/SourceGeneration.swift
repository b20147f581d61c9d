import Foundation
import ModelFormat

/// The Swift sources of a model: for each entity what its `codeGeneration` asks for, and the model itself.
///
/// The sources need `CoreData` and compile without warnings in Swift 6 mode. An entity that is `manual`, or has no class, gets none.
///
/// - Parameter archive: the model as a `.mom`, to be embedded.
/// - Throws: `GenerationError` with every name that Swift would not take.
public func swiftSources(of model: Model, named name: String, archive: Data, _ options: GenerationOptions) throws -> [GeneratedFile] {
    let entities = try entitySources(of: model, options)
    let source = ModelSource(name, options, archive, classes: Set(model.entities.compactMap(\.plainClassName)))
    return entities.flatMap { $0.files() } + [GeneratedFile(name: source.fileName, text: sourceText(declarations: source.declarations))]
}

/// The same in one file, whose name does not depend on what is in the model.
public func swiftSource(of model: Model, named name: String, archive: Data, _ options: GenerationOptions) throws -> GeneratedFile {
    let source = ModelSource(name, options, archive, classes: Set(model.entities.compactMap(\.plainClassName)))
    let declarations = try entitySources(of: model, options).map(\.declarations) + [source.declarations]
    return GeneratedFile(name: source.fileName, text: sourceText(declarations: Array(declarations.joined(separator: [""]))))
}

private func entitySources(of model: Model, _ options: GenerationOptions) throws -> [EntitySource] {
    let problems = unusableNames(in: model)
    if !problems.isEmpty { throw GenerationError(reasons: problems.map(\.reason), places: problems.map(\.place)) }
    let names = ClassNames(model, options)
    return model.entities.sorted { $0.name < $1.name }.compactMap { EntitySource($0, options, names) }
}

/// Why Swift would refuse the sources, and what that is about.
private struct NameProblem {
    let reason: String
    let place: [String]
}

private func unusableNames(in model: Model) -> [NameProblem] {
    let generated = model.entities.filter { $0.codeGeneration != .manual && $0.plainClassName != nil }
    let classes = Dictionary(grouping: generated) { $0.plainClassName ?? "" }
    let shared = classes.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map { name, entities in
        let both = entities.map(\.name).sorted()
        return NameProblem(reason: "Entities \(both.joined(separator: " and ")) both make a class \(name).", place: both)
    }
    return shared + generated.flatMap(unusableNames)
}

private func unusableNames(in entity: Model.Entity) -> [NameProblem] {
    let properties = entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
    let className = entity.plainClassName ?? ""
    let ofClass = SwiftNames.isName(className) ? [] : ["The class \"\(className)\" of entity \(entity.name) is no name in Swift."]
    return ofClass.map { NameProblem(reason: $0, place: [entity.name]) }
        + properties.filter { !SwiftNames.isName($0) }.map {
            NameProblem(reason: "The property \"\($0)\" of entity \(entity.name) is no name in Swift.", place: [entity.name, $0])
        }
        + properties.filter(SwiftNames.reserved.contains).map {
            NameProblem(
                reason: "The property \($0) of entity \(entity.name) is one that all managed objects have: give it another name.",
                place: [entity.name, $0]
            )
        }
}
