import ModelFormat

/// Models that the program carries in itself, under their names.
private enum ModelRegistrations {
    private static let models = Lock<[String: @Sendable () -> NSManagedObjectModel]>([:])

    static func register(_ name: String, _ model: @escaping @Sendable () -> NSManagedObjectModel) { models.withLock { $0[name] = model } }

    // The models are made outside of the lock, which is not held while other code runs.
    static func model(named name: String) -> NSManagedObjectModel? { models.withLock { $0[name] }?() }
    static var names: [String] { models.withLock { Array($0.keys) } }
    static func all() -> [NSManagedObjectModel] { models.withLock { Array($0.values) }.map { $0() } }
}

extension NSManagedObjectModel {
    /// Makes a class known under the name that Objective-C has for it: a managed object class, a value transformer, or an `NSCoding` class, which has
    /// that name in the archives of transformable attributes.
    ///
    /// Copies of files that say `@objc(Name)` do this when the program is loaded; `class` is called at the first use. Not in Apple's Core Data,
    /// whose Objective-C runtime knows every class.
    ///
    /// > Concurrency: from any thread.
    public static func registerClass(named name: String, class: @escaping @Sendable () -> AnyClass) { NamedClasses.register(name, `class`) }

    /// The class that was registered under a name, with a module before it or without.
    static func registeredClass(named name: String) -> AnyClass? {
        NamedClasses.named(name) ?? name.lastIndex(of: ".").flatMap { NamedClasses.named(String(name[name.index(after: $0)...])) }
    }

    /// The names that a class was registered under; the other way round.
    static func registeredNames(of named: AnyClass) -> [String] { NamedClasses.names(of: named) }

    /// Makes a model known under a name, so that nothing has to look for its file. A later one of the same name takes its place.
    ///
    /// The sources that are generated from a model do this when the program is loaded; `model` is called at the first use. Not in Apple's
    /// Core Data, where a program's bundle has the model.
    ///
    /// > Concurrency: from any thread.
    public static func register(_ name: String, model: @escaping @Sendable () -> NSManagedObjectModel) {
        ModelRegistrations.register(name, model)
    }

    /// The model that was registered under a name: the same instance each time, where its maker keeps one.
    public static func registered(_ name: String) -> NSManagedObjectModel? { ModelRegistrations.model(named: name) }

    static var registeredNames: [String] { ModelRegistrations.names }

    /// All registered models, in no particular order.
    static var allRegistered: [NSManagedObjectModel] { ModelRegistrations.all() }

    /// The model in the text of a compiled one, as generated sources carry it.
    ///
    /// - Parameter archive: a `.mom` in Base64; line breaks do not count.
    /// - Precondition: `archive` is what `coredata model generate` wrote.
    public convenience init(embedded archive: String) {
        do {
            let data = Data(base64Encoded: archive, options: .ignoreUnknownCharacters) ?? Data()
            try self.init(Model(archive: data))
        } catch {
            misuse("The embedded model cannot be used: \(error). Generate the sources again.")
        }
    }
}
