/// `#keyPath` and `#selector`.
extension FileAdoption {
    /// `#keyPath(Person.boss.name)` is `"boss.name"`, if the model has that.
    mutating func readKeyPath(at index: Int) -> Int {
        let end = structure.closing(index + 2)
        guard source[index + 2] == "(", source[end] == ")" else { return index + 2 }
        let components = components(in: index + 3..<end)
        let types = components.prefix { isType(source[$0]) }
        let path = components.dropFirst(types.count).map { source[$0].unquoted }
        guard !path.isEmpty else {
            complain(source.tokens[index].place, "#keyPath names no property: write the key as text")
            return end + 1
        }
        let className = types.isEmpty ? typeName(at: index) : types.map { source[$0].unquoted }.joined(separator: ".")
        let keys = className.map { symbols.keys(ofPath: path, in: $0) } ?? path
        if let problem = className.flatMap({ symbols.problem(ofPath: keys, in: $0) }) {
            complain(source.tokens[components[types.count + problem.key]].place, problem.text)
        }
        edits.replace(
            source.tokens[index].range.lowerBound..<source.tokens[end].range.upperBound,
            with: SwiftNames.literal(keys.joined(separator: "."))
        )
        return end + 1
    }

    /// The indexes of the names between dots, without generic arguments and marks of optionals.
    private func components(in range: Range<Int>) -> [Int] {
        var depth = 0
        return range.prefix(SourceStructure.reach).filter { index in
            depth += source[index] == "<" ? 1 : source[index] == ">" ? -1 : 0
            return depth == 0 && source[index].isName
        }
    }

    private func isType(_ name: String) -> Bool { name.first?.isUppercase == true || symbols.classes[name.unquoted] != nil }

    private func typeName(at index: Int) -> String? { structure.typeOfToken[index].map { structure.types[$0].name } }

    /// `NSStringFromSelector(#selector(getter: x))` is `"x"`.
    mutating func readSelectorName(at index: Int) -> Int {
        guard source[index + 1] == "(", source[index + 2] == "#", source[index + 3] == "selector", source[index + 4] == "(" else {
            return index + 1
        }
        let (inner, end) = (structure.closing(index + 4), structure.closing(index + 1))
        guard end == inner + 1, let selector = selector(in: index + 5..<inner) else { return index + 2 }
        edits.replace(
            source.tokens[index].range.lowerBound..<source.tokens[end].range.upperBound,
            with: SwiftNames.literal(selector.text)
        )
        return end + 1
    }

    /// The selectors of the comparisons that sort descriptors know, and of getters, which are keys.
    mutating func readSelector(at index: Int) -> Int {
        let end = structure.closing(index + 2)
        guard source[index + 2] == "(", source[end] == ")", let selector = selector(in: index + 3..<end) else { return index + 2 }
        guard selector.isGetter || Self.comparisons.contains(selector.text) else {
            complain(
                source.tokens[index].place,
                "Nothing on Linux sends the selector `\(selector.text)`: give what calls it a closure, such as addObserver(forName:object:queue:using:)"
            )
            return end + 1
        }
        needsCoreData = true
        edits.replace(
            source.tokens[index].range.lowerBound..<source.tokens[end].range.upperBound,
            with: "Selector(\(SwiftNames.literal(selector.text)))"
        )
        return end + 1
    }

    private static let comparisons: Set = [
        "compare:", "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:", "localizedStandardCompare:",
    ]

    /// The selector as text, of `getter: Person.name`, `NSString.compare(_:)` or `NSString.compare`.
    private func selector(in range: Range<Int>) -> (text: String, isGetter: Bool)? {
        let isGetter = source[range.lowerBound] == "getter" && source[range.lowerBound + 1] == ":"
        let rest = range.prefix(SourceStructure.reach).dropFirst(isGetter ? 2 : 0).prefix { source[$0] != "as" }
        let path = rest.prefix { source[$0] != "(" }
        guard let name = path.last, source[name].isName, source[range.lowerBound] != "setter" else { return nil }
        if isGetter {
            let types = path.dropLast().map { source[$0] }.filter { $0 != "." }.map(\.unquoted).joined(separator: ".")
            return (symbols.key(of: source[name].unquoted, in: types.isEmpty ? typeName(at: name) : types), true)
        }
        let labels = rest.dropFirst(path.count + 1).prefix { source[$0] != ")" }.map { source[$0] }
        if rest.count == path.count { return (source[name].unquoted + ":", false) }
        return (source[name].unquoted + labels.filter { $0 != "_" }.joined(), false)
    }
}
