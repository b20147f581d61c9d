extension FileManager {
    /// The folder that programs of a group share: `$XDG_DATA_HOME/IDENTIFIER`, where Apple's systems have a folder for the group's entitlement.
    ///
    /// Nil for what is no name of a folder. It is not made; a container makes it when it is its `defaultDirectoryURL()`.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        guard !["", ".", ".."].contains(groupIdentifier), !groupIdentifier.contains("/") else { return nil }
        return DefaultDirectory.data.appendingPathComponent(groupIdentifier, isDirectory: true)
    }
}
