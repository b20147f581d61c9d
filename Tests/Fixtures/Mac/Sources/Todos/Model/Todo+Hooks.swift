import CoreData

extension Todo {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 0), forKey: #keyPath(Todo.created))
    }

    public override func validateForUpdate() throws {
        try super.validateForUpdate()
        if estimate < 0 {
            throw NSError(domain: "Todos", code: 1, userInfo: [NSLocalizedDescriptionKey: "\(title ?? "") takes less than no time"])
        }
    }

    @objc var names: [String] {
        let sort = NSSortDescriptor(
            key: #keyPath(Tag.name),
            ascending: true,
            selector: #selector(NSString.localizedCaseInsensitiveCompare(_:))
        )
        return (tags?.sortedArray(using: [sort]) as? [Tag] ?? []).compactMap { $0.name }
    }
}

extension List {
    public override func prepareForDeletion() {
        super.prepareForDeletion()
        print("\(title ?? "") goes, with \(todos?.count ?? 0) to do")
    }
}
