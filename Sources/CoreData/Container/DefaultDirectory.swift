/// Where stores are when nobody says where.
enum DefaultDirectory {
    /// The executable's folder below `data`.
    static var url: URL { data.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true) }

    /// `$XDG_DATA_HOME`; without that variable, `$HOME/.local/share`.
    static var data: URL {
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        return folder("XDG_DATA_HOME") ?? home.appendingPathComponent(".local/share", isDirectory: true)
    }

    /// The folder that a variable names. One that is relative counts for nothing, as the XDG specification has it.
    private static func folder(_ variable: String) -> URL? {
        guard let path = ProcessInfo.processInfo.environment[variable], path.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: path, isDirectory: true)
    }
}
