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
    let source = ModelSource(name, options, archive)
    return entities.flatMap { $0.files() } + [GeneratedFile(name: source.fileName, text: sourceText(declarations: source.declarations))]
}

/// The same in one file, whose name does not depend on what is in the model.
public func swiftSource(of model: Model, named name: String, archive: Data, _ options: GenerationOptions) throws -> GeneratedFile {
    let source = ModelSource(name, options, archive)
    let declarations = try entitySources(of: model, options).map(\.declarations) + [source.declarations]
    return GeneratedFile(name: source.fileName, text: sourceText(declarations: Array(declarations.joined(separator: [""]))))
}

private func entitySources(of model: Model, _ options: GenerationOptions) throws -> [EntitySource] {
    let reasons = unusableNames(in: model)
    if !reasons.isEmpty { throw GenerationError(reasons: reasons) }
    let names = ClassNames(model, moduleName: options.moduleName)
    return model.entities.sorted { $0.name < $1.name }.compactMap { EntitySource($0, options, names) }
}

/// Why Swift would refuse the sources.
private func unusableNames(in model: Model) -> [String] {
    let generated = model.entities.filter { $0.codeGeneration != .manual && $0.plainClassName != nil }
    let classes = Dictionary(grouping: generated) { $0.plainClassName ?? "" }
    let shared = classes.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map { name, entities in
        "Entities \(entities.map(\.name).sorted().joined(separator: " and ")) both make a class \(name)."
    }
    return shared + generated.flatMap(unusableNames)
}

private func unusableNames(in entity: Model.Entity) -> [String] {
    let properties = entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
    let className = entity.plainClassName ?? ""
    let ofClass = SwiftNames.isName(className) ? [] : ["The class \"\(className)\" of entity \(entity.name) is no name in Swift."]
    return ofClass
        + properties.filter { !SwiftNames.isName($0) }.map { "The property \"\($0)\" of entity \(entity.name) is no name in Swift." }
        + properties.filter(SwiftNames.reserved.contains).map {
            "The property \($0) of entity \(entity.name) is one that all managed objects have: give it another name."
        }
}
