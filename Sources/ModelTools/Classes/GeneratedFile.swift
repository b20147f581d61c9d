/// A Swift file that was made from a model.
public struct GeneratedFile: Sendable, Equatable {
    public let name: String
    public let text: String

    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

/// What the sources that are made from a model look like, beyond what the model says.
public struct GenerationOptions: Sendable {
    /// The module that the sources will be part of; class names in the embedded model are qualified with it.
    public var moduleName: String?
    public var isPublic: Bool
    public var style: PropertyStyle

    /// Declarations that belong in the bodies of classes, by class: overrides that extensions have.
    public var overrides: [String: [String]]
    /// The classes that the model calls otherwise than Swift: Objective-C's name to Swift's.
    public var classNames: [String: String]

    public init(
        moduleName: String? = nil,
        isPublic: Bool = false,
        style: PropertyStyle = .xcode,
        overrides: [String: [String]] = [:],
        classNames: [String: String] = [:]
    ) {
        self.moduleName = moduleName
        self.isPublic = isPublic
        self.style = style
        self.overrides = overrides
        self.classNames = classNames
    }

    var access: String { isPublic ? "public " : "" }
}

/// Which types the properties have.
public enum PropertyStyle: String, Sendable, CaseIterable {
    /// Those of Xcode's sources: `String?` for every text, `NSSet?` for a to-many, `NSNumber?` where the model asks for no scalars.
    case xcode
    /// `String` for a mandatory text and `String?` for an optional one, `Set<Dog>` and `[Dog]` for a to-many, scalars for numbers.
    case swift
}

/// Why no sources can be made of a model: one sentence for each reason.
public struct GenerationError: Error, Equatable, CustomStringConvertible {
    public let reasons: [String]
    /// For each reason the names of the entity and the property that it is about.
    public let places: [[String]]

    public var description: String { reasons.joined(separator: "\n") }
}
