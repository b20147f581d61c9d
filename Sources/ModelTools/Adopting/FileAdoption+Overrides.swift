/// What only Objective-C lets extensions do: they override for their class.
extension FileAdoption {
    /// An override in an extension becomes a method of another name, which an override in the class calls.
    mutating func readOverride(at index: Int) -> Int {
        guard structure.isMember[index], let type = structure.typeOfToken[index], structure.types[type].isExtension else {
            return index + 1
        }
        let className = structure.types[type].name
        guard isHere(className, index) else { return index + 1 }
        let (modifiers, keyword) = structure.modifierIndexes(around: index)
        do {
            let declaration = try OverrideReader(structure, keyword).declaration()
            let words = modifiers.map { source[$0] }.filter { !["open", "dynamic", "final"].contains($0) } + extensionAccess(type)
            let access = modifiers.contains { source[$0] == "open" } ? ["public"] : []
            let call = "\(declaration.name)_\(className.replacing(".", with: "_"))"
            overrides.append((className, declaration.forwarding(to: call, (access + words).joined(separator: " "))))
            edits.blank(source.tokens[index].range)
            for open in modifiers where source[open] == "open" { edits.replace(source.tokens[open].range, with: "public") }
            edits.replace(source.tokens[declaration.nameIndex].range, with: call)
            return declaration.nameIndex + 1
        } catch {
            complain(error.place, error.text)
            return index + 1
        }
    }

    /// Whether the class's body is one that can be added to.
    private mutating func isHere(_ className: String, _ index: Int) -> Bool {
        if symbols.classes[className] != nil || symbols.generatedClasses.contains(className) { return true }
        let cure =
            symbols.ownClasses[className].map { "exclude the file of the class, too: \($0)" }
            ?? "write the override in the class itself"
        complain(
            source.tokens[index].place,
            "Swift lets no extension override without Objective-C, and class \(className) is not adopted: \(cure)"
        )
        return false
    }

    /// `public` of `public extension`, where members say nothing.
    private func extensionAccess(_ type: Int) -> [String] {
        let before = source[structure.types[type].keyword - 1]
        return ["public", "internal", "package"].contains(before) ? [before] : []
    }

    /// `convenience init(context:)` of a managed object: on Linux it overrides a required initializer.
    mutating func readConvenience(at index: Int) -> Int {
        let (modifiers, keyword) = structure.modifierIndexes(around: index)
        guard structure.isMember[index], let type = structure.typeOfToken[index], source[keyword] == "init", source[keyword + 1] == "(",
            source[keyword + 2] == "context", !modifiers.contains(where: { source[$0] == "required" })
        else { return index + 1 }
        let parameters = source.tokens[(keyword + 2)..<max(structure.closing(keyword + 1), keyword + 2)].prefix(SourceStructure.reach).map(
            \.text
        )
        guard !parameters.contains(","), parameters.drop(while: { $0 != ":" }).dropFirst().first == "NSManagedObjectContext" else {
            return index + 1
        }
        if structure.types[type].isExtension {
            complain(
                source.tokens[index].place,
                "init(context:) is required on Linux, and so must be in the class: move it there, or give it another parameter"
            )
        } else {
            edits.insert("required ", at: source.tokens[index].range.lowerBound)
        }
        return keyword + 1
    }
}

/// A method or property that overrides one.
struct OverrideDeclaration {
    let name: String
    let nameIndex: Int
    /// `func name(a: Int) throws -> Int`, or `var name: Int`.
    let signature: String
    /// The labels and names of parameters as a call writes them; nil for a property.
    let arguments: [String]?
    let isThrowing, isAsync, isSettable: Bool

    func forwarding(to other: String, _ modifiers: String) -> String {
        let head = "\(modifiers.isEmpty ? "" : modifiers + " ")override \(signature)"
        let call = "\(isThrowing ? "try " : "")\(isAsync ? "await " : "")\(other)"
        if let arguments { return "\(head) { \(call)(\(arguments.joined(separator: ", "))) }" }
        return isSettable ? "\(head) { get { \(call) } set { \(other) = newValue } }" : "\(head) { \(call) }"
    }
}

/// Reads an override from its `func` or `var`.
struct OverrideReader {
    private let structure: SourceStructure
    private let keyword: Int
    private var source: SwiftTokens { structure.source }

    init(_ structure: SourceStructure, _ keyword: Int) {
        self.structure = structure
        self.keyword = keyword
    }

    private func problem(_ text: String) -> SourceProblem {
        let place = source.tokens.indices.contains(keyword) ? source.tokens[keyword].place : SourcePlace(line: 1, column: 1)
        return SourceProblem(place: place, text: text)
    }

    func declaration() throws(SourceProblem) -> OverrideDeclaration {
        let (name, body) = (keyword + 1, source.tokens.dropFirst(keyword).prefix(SourceStructure.reach).firstIndex { $0.text == "{" })
        guard ["func", "var"].contains(source[keyword]), source[name].isName, let body else {
            throw problem("Swift lets no extension override without Objective-C: write this in the class itself")
        }
        let signature = text(of: keyword..<body)
        if source[keyword] == "var" {
            return OverrideDeclaration(
                name: source[name].unquoted,
                nameIndex: name,
                signature: signature,
                arguments: nil,
                isThrowing: false,
                isAsync: false,
                isSettable: try isSettable(body)
            )
        }
        guard source[name + 1] == "(" else {
            throw problem("A generic method cannot override from an extension: write it in the class itself")
        }
        let end = structure.closing(name + 1)
        guard end < body else { throw problem("A parenthesis is not closed") }
        let effects = source.tokens[end..<body].map(\.text)
        return OverrideDeclaration(
            name: source[name].unquoted,
            nameIndex: name,
            signature: signature,
            arguments: arguments(in: name + 2..<end),
            isThrowing: effects.contains("throws"),
            isAsync: effects.contains("async"),
            isSettable: false
        )
    }

    /// Tokens in one line, with blanks where the file has some.
    private func text(of range: Range<Int>) -> String {
        range.reduce(into: "") { text, index in
            let isApart = index > range.lowerBound && source.tokens[index].range.lowerBound > source.tokens[index - 1].range.upperBound
            text += (isApart ? " " : "") + source[index]
        }
    }

    private func arguments(in range: Range<Int>) -> [String] {
        var (found, depth): ([String], Int) = ([], 0)
        for index in range {
            depth += ["(", "[", "<"].contains(source[index]) ? 1 : [")", "]"].contains(source[index]) ? -1 : 0
            depth -= source[index] == ">" && source[index - 1] != "-" ? 1 : 0
            guard depth == 0, source[index] == ":" else { continue }
            let (label, name) = (source[index - 2], source[index - 1])
            let value = (source[index + 1] == "inout" ? "&" : "") + name
            let isLabelled = label.isName && index - 2 >= range.lowerBound
            found.append(isLabelled && label == "_" ? value : "\(isLabelled ? label : name): \(value)")
        }
        return found
    }

    /// Whether accessors have a `set`; one that only observes cannot be told to another property.
    private func isSettable(_ body: Int) throws(SourceProblem) -> Bool {
        let end = structure.closing(body)
        var (index, settable) = (body + 1, false)
        while index < end {
            if ["willSet", "didSet"].contains(source[index]) {
                throw problem("An extension cannot observe a property of its class without Objective-C: write this in the class itself")
            }
            if source[index] == "set", ["{", "("].contains(source[index + 1]) { settable = true }
            index = ["{", "(", "["].contains(source[index]) ? structure.closing(index) + 1 : index + 1
        }
        return settable
    }
}
