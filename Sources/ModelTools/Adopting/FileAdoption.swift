/// Makes the copy of one file: what Linux cannot compile and has one right answer is rewritten, the rest is told.
struct FileAdoption {
    let file: SourceFile
    let structure: SourceStructure
    let symbols: TargetSymbols
    var edits = SourceEdits()
    private(set) var messages: [SourceMessage] = []
    /// Declarations with the types that they are members of and the places where their bodies belong, in order.
    var managed: [(declaration: ManagedDeclaration, type: String?, end: Int)] = []
    /// The properties among them that key paths lead to.
    private(set) var properties: [AdoptedProperty] = []
    /// Declarations that belong in the bodies of classes, by class.
    var overrides: [(className: String, declaration: String)] = []
    /// Computed properties of classes, in order.
    var computed: [ComputedProperty] = []
    var needsCoreData = false

    init(_ file: SourceFile, _ structure: SourceStructure, _ symbols: TargetSymbols) {
        self.file = file
        self.structure = structure
        self.symbols = symbols
        var index = 0
        while index < source.tokens.count { index = max(read(index), index + 1) }
    }

    var source: SwiftTokens { structure.source }

    mutating func complain(_ place: SourcePlace?, _ text: String) {
        messages.append(SourceMessage(.error, file.path, place, text))
    }

    mutating func warn(_ place: SourcePlace?, _ text: String) {
        messages.append(SourceMessage(.warning, file.path, place, text))
    }

    /// Reads what begins at a token, and gives the index behind it.
    private mutating func read(_ index: Int) -> Int {
        guard structure.blocks.isActive[index] else { return index + 1 }
        switch source[index] {
        case "@": return readAttribute(at: index)
        case "#" where source[index + 1] == "keyPath": return readKeyPath(at: index)
        case "#" where source[index + 1] == "selector": return readSelector(at: index)
        case "NSStringFromSelector": return readSelectorName(at: index)
        case "override": return readOverride(at: index)
        case "var":
            readVariable(at: index)
            return index + 1
        case "convenience": return readConvenience(at: index)
        case "Foundation": return readQualifiedName(at: index)
        case "optional": return readOptional(at: index)
        case "import": return readImport(at: index)
        case "as": return readCast(at: index)
        case "AutoreleasingUnsafeMutablePointer": return readPointer(at: index)
        default: return index + 1
        }
    }

    /// The copy: the file with its edits, then what it needs beside it.
    func text() -> String {
        var edits = edits
        var accessors = ManagedAccessors(managed.map(\.declaration), symbols)
        for (declaration, type, end) in managed {
            guard let body = try? accessors.body(of: declaration, in: type) else { continue }
            edits.insert(" \(body)", at: end)
        }
        let keys =
            accessors.keys.isEmpty ? [] : ["private nonisolated enum ManagedKeys {"] + accessors.keys.map { "    " + $0 } + ["}", ""]
        return (located(edits.applied(to: source.bytes)) + imports + keys + registrations).joined(separator: "\n")
    }

    /// The text with the place that it is from.
    ///
    /// NB: two files of one name in a module, of which one is only named, are a warning. The copy of `main.swift` must have that name, so that
    /// only its lines are those of the original.
    private func located(_ text: String) -> [String] {
        if file.path.split(separator: "/").last == "main.swift" { return [text, ""] }
        return ["#sourceLocation(file: \(SwiftNames.literal(file.path)), line: 1)", text, "#sourceLocation()", ""]
    }

    private var imports: [String] {
        let isImported = source.tokens.indices.contains { source[$0] == "import" && source[$0 + 1] == "CoreData" }
        return isImported || !needsCoreData && registrations.isEmpty ? [] : ["import CoreData", ""]
    }

    /// What Objective-C calls a class otherwise than Swift: models and archives have that name.
    var names: [(name: String, className: String)] {
        structure.types.compactMap { type in
            guard type.isClass, let name = type.objectiveCName, name != type.name else { return nil }
            return (name, type.name)
        }
    }

    /// Classes of values whose name in archives has no module before it, since the source says the name.
    private var archivedNames: [(name: String, className: String)] {
        structure.types.compactMap { type in
            guard type.isClass, type.objectiveCName == type.name else { return nil }
            return symbols.lineage(of: type.name).contains { ["NSCoding", "NSSecureCoding"].contains($0) } ? (type.name, type.name) : nil
        }
    }

    /// NB: the section has the functions that run before the program's own code, as in the sources of models.
    private var registrations: [String] {
        (names + archivedNames).enumerated().flatMap { number, entry in
            [
                "@section(\".init_array\") @used",
                "private nonisolated let registration\(number): @convention(c) () -> () = {",
                "    NSManagedObjectModel.registerClass(named: \(SwiftNames.literal(entry.name))) { \(entry.className).self }", "}", "",
            ]
        }
    }
}

/// Attributes and names that are spelt otherwise.
extension FileAdoption {
    private mutating func readAttribute(at index: Int) -> Int {
        let (start, name) = (source.tokens[index].range.lowerBound, index + 1)
        switch source[name] {
        case "objc":
            let end = selectorEnd(behind: name)
            edits.blank(start..<source.tokens[end].range.upperBound)
            return end + 1
        case "objcMembers": edits.blank(start..<source.tokens[name].range.upperBound)
        case "NSManaged":
            edits.blank(start..<source.tokens[name].range.upperBound)
            readManaged(at: name)
        default: break
        }
        return index + 2
    }

    private mutating func readManaged(at name: Int) {
        do {
            var reader = DeclarationReader(source, at: name + 1, place: source.tokens[name].place)
            let (found, type) = (try reader.declaration(), structure.typeOfToken[name].map { structure.types[$0].name })
            managed.append((found.declaration, type, found.end))
            if case .property(let property) = found.declaration, let seen = adoptedProperty(property, at: name) { properties.append(seen) }
            var accessors = ManagedAccessors([found.declaration], symbols)
            _ = try accessors.body(of: found.declaration, in: type)
        } catch let problem as SourceProblem {
            complain(problem.place, problem.text)
        } catch {
            complain(source.tokens[name].place, "\(error)")
        }
    }

    /// The index of the last token of an attribute with a selector; that of the word where it has none.
    ///
    /// NB: a selector that is not closed must not have all that follows.
    private func selectorEnd(behind name: Int) -> Int {
        guard source[name + 1] == "(", source.tokens[name + 1].range.lowerBound == source.tokens[name].range.upperBound else { return name }
        let line = source.tokens[name].line
        let near = source.tokens[(name + 1)...].prefix(SourceStructure.reach)
        let end = near.firstIndex { $0.text == ")" || $0.line > line } ?? near.endIndex
        return end < source.tokens.count && source[end] == ")" ? end : end - 1
    }

    /// `Foundation.ValueTransformer` and others that are Foundation's on a Mac, and CoreData's here.
    private mutating func readQualifiedName(at index: Int) -> Int {
        guard source[index - 1] != ".", source[index - 1] != "import", source[index + 1] == ".", Self.ours.contains(source[index + 2])
        else {
            return index + 1
        }
        needsCoreData = true
        edits.blank(source.tokens[index].range.lowerBound..<source.tokens[index + 2].range.lowerBound)
        return index + 3
    }

    private static let ours: Set = [
        "ValueTransformer", "UndoManager", "NSExpression", "NSComparisonPredicate", "NSCompoundPredicate", "NSPredicate", "Selector",
        "NSSortDescriptor", "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName",
    ]

    private mutating func readPointer(at index: Int) -> Int {
        complain(
            source.tokens[index].place,
            "Linux has no such pointer: rules for one key go into `override func validateValue(_ value: inout Any?, forKey key: String) throws`, "
                + "beside the Mac's between #if canImport(ObjectiveC), #else and #endif"
        )
        return index + 1
    }

    private mutating func readOptional(at index: Int) -> Int {
        guard let type = structure.typeOfToken[index], structure.isMember[index], source[structure.types[type].keyword] == "protocol",
            ["func", "var", "static", "class"].contains(source[index + 1])
        else { return index + 1 }
        complain(
            source.tokens[index].place,
            "Only Objective-C has optional requirements: take `optional` away, and give \(structure.types[type].name) an extension with what "
                + "happens where a type has none"
        )
        return index + 1
    }

    private mutating func readImport(at index: Int) -> Int {
        let kinds: Set = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"]
        let name = kinds.contains(source[index + 1]) ? index + 2 : index + 1
        guard AppleModules.names.contains(source[name]), !structure.isMember[index] else { return name }
        complain(
            source.tokens[name].place,
            "Linux has no \(source[name]): put the import and what uses it between #if canImport(\(source[name])) and #endif, or name the file "
                + "under leaveOut in .coredata.json"
        )
        return name + 1
    }
}
