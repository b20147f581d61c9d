/// Casts that a Mac carries out, where generic arguments of Objective-C's classes are erased.
extension FileAdoption {
    /// `Todo.fetchRequest() as! NSFetchRequest<Todo>`: Swift's compiler only warns of it, without a cure.
    mutating func readCast(at index: Int) -> Int {
        guard ["!", "?"].contains(source[index + 1]), source[index + 2] == "NSFetchRequest", source[index + 3] == "<"
        else {
            return index + 1
        }
        let near = source.tokens.dropFirst(index + 4).prefix(SourceStructure.reach)
        let type = near.prefix { $0.text != ">" }.map(\.text).joined(separator: " ")
        guard let cure = cure(ofCastAt: index, to: type) else { return index + 1 }
        warn(
            source.tokens[index].place,
            "A request of one type is none of another on Linux, so that the cast fails: \(cure), which a Mac takes, too"
        )
        return index + 4
    }

    /// What to write instead; nil for a cast that may succeed.
    private func cure(ofCastAt index: Int, to type: String) -> String? {
        if isOfNewRequest(index) { return "make it by NSFetchRequest<\(type)>(entityName:)" }
        guard isOfTemplate(index), !type.hasSuffix("NSFetchRequestResult") else { return nil }
        return "fetch with it as it is, and cast what is found, `try context.fetch(request) as! [\(type)]`"
    }

    /// Whether a class' request is cast. What is cast otherwise may well be of that type, as the request that a store is asked.
    private func isOfNewRequest(_ index: Int) -> Bool {
        source[index - 1] == ")" && source[index - 2] == "(" && source[index - 3] == "fetchRequest"
    }

    /// Whether a model's template, or a copy of it, is cast: its type is that of all requests.
    private func isOfTemplate(_ index: Int) -> Bool {
        var end = index - 1
        if source[end] == ")", source[end - 1] == "(", source[end - 2] == "copy", source[end - 3] == "." {
            end -= ["!", "?"].contains(source[end - 4]) ? 5 : 4
        }
        guard source[end] == ")", let start = structure.opening(end) else { return false }
        return ["fetchRequestTemplate", "fetchRequestFromTemplate"].contains(source[start - 1])
    }
}
