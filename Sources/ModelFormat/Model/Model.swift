/// A data model as its files describe it: plain values without behaviour.
///
/// One form for the source (`.xcdatamodel`) and for the compiled file (`.mom`). What only one of the two says is absent from the other:
/// layout, code generation and the editor's own attributes are in the source only.
public struct Model: Sendable, Equatable {
    public var entities: [Entity] = []
    public var composites: [Composite] = []
    public var configurations: [Configuration] = []
    public var fetchRequests: [FetchRequest] = []
    /// Names for this version, kept in the metadata of stores. The source has one or none.
    public var versionIdentifiers: [String] = []
    public var editor = Editor()
    public var layout: [LayoutElement] = []
    public var extras = Extras()

    public init() {}

    /// What the source says about the programs that made it and the systems that it is for.
    public struct Editor: Sendable, Equatable {
        /// `com.apple.IDECoreDataModeler.DataModel`, unless the file says otherwise.
        public var type: String?
        public var documentVersion: String?
        public var lastSavedToolsVersion: String?
        public var systemVersion: String?
        public var minimumToolsVersion: String?
        /// `Swift` or `Objective-C`.
        public var sourceLanguage: String?
        /// An old form of the model's name.
        public var name: String?
        public var macOSVersion: String?
        public var iOSVersion: String?
        public var isUsedWithCloudKit: Bool?
        public var isUsedWithSwiftData: Bool?

        public init() {}
    }

    /// A named set of entities that a store can be limited to.
    public struct Configuration: Sendable, Equatable {
        public var name = ""
        /// The names of the entities.
        public var members: [String] = []
        public var isUsedWithCloudKit: Bool?
        public var extras = Extras()

        public init() {}
    }

    /// A named group of attributes; an attribute of type `composite` has it as its value.
    public struct Composite: Sendable, Equatable {
        public var name = ""
        public var attributes: [Attribute] = []
        public var extras = Extras()

        public init() {}
    }

    /// Where the editor draws an entity.
    public struct LayoutElement: Sendable, Equatable {
        public var name = ""
        public var positionX: String?
        public var positionY: String?
        public var width: String?
        public var height: String?
        public var extras = Extras()

        public init() {}
    }
}
