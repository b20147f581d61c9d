import ModelFormat

extension Model {
    var isUsedWithCloudKit: Bool { editor.isUsedWithCloudKit == true || configurations.contains { $0.isUsedWithCloudKit == true } }
}

/// What Apple's CloudKit mirroring refuses; for models that are shared with it.
func cloudWarnings(about entity: Model.Entity) -> [ModelWarning] {
    place(entity.name, entity.uniquenessConstraints.isEmpty ? [] : ["has uniqueness constraints, which CloudKit cannot keep"])
        + entity.attributes.filter { !$0.isOptional && !$0.isTransient && $0.defaultValue == nil }.flatMap {
            place("\(entity.name).\($0.name)", ["must be optional or have a default for CloudKit"])
        }
        + entity.relationships.flatMap { place("\(entity.name).\($0.name)", cloudWarnings(about: $0)) }
}

private func cloudWarnings(about relationship: Model.Relationship) -> [String] {
    [
        relationship.isOptional ? nil : "must be optional for CloudKit",
        relationship.isOrdered ? "is ordered, which CloudKit cannot keep" : nil,
        relationship.deleteRule == .deny ? "has the delete rule Deny, which CloudKit cannot keep" : nil,
        relationship.inverse == nil ? "must have an inverse for CloudKit" : nil,
    ].compactMap { $0 }
}
