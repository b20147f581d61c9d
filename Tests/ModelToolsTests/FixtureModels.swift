import CoreData
import Foundation

import ModelFormat
import TestSupport
import Testing

@testable import ModelTools

/// A version of a model among the fixtures.
struct FixtureModel: CustomTestStringConvertible, Sendable {
    let folder: String

    var testDescription: String { folder }

    /// The model with a class made for every entity, and Swift names for it and its module.
    func generated(as style: PropertyStyle) throws -> (files: [GeneratedFile], module: String, stubs: String) {
        var model = try Model(source: Fixtures.url(folder))
        for index in model.entities.indices {
            model.entities[index].className = model.entities[index].plainClassName ?? model.entities[index].name
            model.entities[index].codeGeneration = .class
        }
        let name = URL(fileURLWithPath: folder).deletingPathExtension().lastPathComponent
        let module = SwiftNames.name(from: name) + "Classes"
        let options = GenerationOptions(moduleName: module, isPublic: true, style: style)
        let archive = try model.qualifyingClasses(with: module).archived(parser: .predicates)
        return (try swiftSources(of: model, named: name, archive: archive, options), module, stubs(of: model))
    }

    /// Declarations of the classes that transformable attributes name.
    private func stubs(of model: Model) -> String {
        let classes = model.entities.flatMap(\.attributes).compactMap(\.customClassName).filter { !$0.isEmpty }
        return "import Foundation\n"
            + Set(classes).filter { NSClassFromString("Foundation.\($0)") == nil }.map { "public class \($0): NSObject {}\n" }.sorted()
            .joined()
    }

    static let all = Fixtures.sources.map { FixtureModel(folder: URL(fileURLWithPath: $0).deletingLastPathComponent().relativePath) }
}
