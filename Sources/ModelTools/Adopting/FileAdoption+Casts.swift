/// Casts that a Mac carries out, where generic arguments of Objective-C's classes are erased.
extension FileAdoption {
    /// `Todo.fetchRequest() as! NSFetchRequest<Todo>`: Swift's compiler only warns of it, without a cure.
    mutating func readCast(at index: Int) -> Int {
        guard ["!", "?"].contains(source[index + 1]), source[index + 2] == "NSFetchRequest", source[index + 3] == "<", isOfNewRequest(index)
        else {
            return index + 1
        }
        let near = source.tokens.dropFirst(index + 4).prefix(SourceStructure.reach)
        let type = near.prefix { $0.text != ">" }.map(\.text).joined(separator: " ")
        warn(
            source.tokens[index].place,
            "A request of one type is none of another on Linux, so that the cast fails: make it by NSFetchRequest<\(type)>(entityName:), which a "
                + "Mac takes, too"
        )
        return index + 4
    }

    /// Whether a class' request is cast. What is cast otherwise may well be of that type, as the request that a store is asked.
    private func isOfNewRequest(_ index: Int) -> Bool {
        source[index - 1] == ")" && source[index - 2] == "(" && source[index - 3] == "fetchRequest"
    }
}
