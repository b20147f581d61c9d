import Foundation

extension Model {
    /// Reads the `contents` of an `.xcdatamodel`.
    ///
    /// What this module does not know is kept in `extras`; `unknowns` tells it.
    ///
    /// - Throws: `ModelFormatError` with a line: for what is no XML or no model, values of a wrong form, names that come twice, and names
    ///   of what is not there.
    public init(xml data: Data) throws { self = try Self.read(XMLNode.root(of: data), nil) }

    fileprivate static func read(_ root: XMLNode, _ unknowns: UnknownFields?) throws -> Model {
        guard root.name == "model" else { throw root.error("the root element is <\(root.name)>, not <model>") }
        let model: Model = try XMLFields.value(of: root, unknowns)
        if let problem = model.problems().first { throw root.innermost(along: problem.path).error(problem.sentence) }
        return model
    }

    /// The `contents` of an `.xcdatamodel`. Reading it gives an equal model, if this one is from a source too.
    ///
    /// Compiled models can hold what the source has no form for; that is left out: sort descriptors, `validations`, `derivationFilter`,
    /// value classes, and all but text in user infos.
    public func xml() throws -> Data { try XMLFields.node("model", of: self).document }
}

/// A model's source with the lines of what it says.
public struct ModelSourceFile: Sendable {
    public let model: Model
    /// What this module does not know, each with its line and with what could stand there.
    public let unknowns: [ModelFormatError]
    private let root: XMLNode

    /// Reads the `contents` of an `.xcdatamodel`.
    ///
    /// - Throws: as `Model.init(xml:)`.
    public init(xml data: Data) throws {
        let found = UnknownFields()
        root = try XMLNode.root(of: data)
        model = try Model.read(root, found)
        unknowns = found.found
    }

    /// The line of an entity or a property: of what comes nearest to it on the path of names.
    public func line(of path: [String]) -> Int { max(root.innermost(along: path).line, 1) }
}

extension XMLNode {
    /// The element that a path of names leads to, as far as it can be followed.
    fileprivate func innermost(along path: [String]) -> XMLNode {
        guard let name = path.first, let child = children.last(where: { $0.attribute("name") == name && $0.name != "elements" }) else {
            return self
        }
        return child.innermost(along: Array(path.dropFirst()))
    }
}

extension Model: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try editor.exchange(with: &fields)
        var identifier = versionIdentifiers.first
        fields.text("userDefinedModelVersionIdentifier", &identifier)
        if fields.isReading { versionIdentifiers = identifier.map { [$0] } ?? [] }
        try fields.children("entity", &entities)
        try fields.children("composite", &composites)
        try fields.children("configuration", &configurations)
        try fields.children("fetchRequest", &fetchRequests)
        try fields.group("elements", "element", &layout)
        fields.rest(&extras)
    }
}

extension Model.Editor {
    fileprivate mutating func exchange(with fields: inout XMLFields) throws {
        fields.text("type", &type)
        fields.text("documentVersion", &documentVersion)
        fields.text("lastSavedToolsVersion", &lastSavedToolsVersion)
        fields.text("systemVersion", &systemVersion)
        fields.text("minimumToolsVersion", &minimumToolsVersion)
        fields.text("sourceLanguage", &sourceLanguage)
        fields.text("name", &name)
        fields.text("macOSVersion", &macOSVersion)
        fields.text("iOSVersion", &iOSVersion)
        try fields.optionalFlag("usedWithCloudKit", &isUsedWithCloudKit)
        try fields.optionalFlag("usedWithSwiftData", &isUsedWithSwiftData)
    }
}

extension Model.Configuration: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        try fields.optionalFlag("usedWithCloudKit", &isUsedWithCloudKit)
        try fields.texts("memberEntity", "name", &members)
        fields.rest(&extras)
    }
}

extension Model.Composite: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        try fields.children("attribute", &attributes)
        fields.rest(&extras)
    }
}

extension Model.LayoutElement: XMLElementValue {
    mutating func exchange(with fields: inout XMLFields) throws {
        try fields.name("name", &name)
        fields.text("positionX", &positionX)
        fields.text("positionY", &positionY)
        fields.text("width", &width)
        fields.text("height", &height)
        fields.rest(&extras)
    }
}
