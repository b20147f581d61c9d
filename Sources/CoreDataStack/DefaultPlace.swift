import Foundation

/// Where stores are when nobody says where.
enum DefaultPlace {
    /// `$XDG_DATA_HOME/EXECUTABLE/NAME.sqlite`; without that variable, `$HOME/.local/share` stands for it.
    static func url(for name: String) -> URL {
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        let data = folder("XDG_DATA_HOME") ?? home.appendingPathComponent(".local/share", isDirectory: true)
        return data.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true).appendingPathComponent("\(name).sqlite")
    }

    /// The folder that a variable names. One that is relative counts for nothing, as the XDG specification has it.
    private static func folder(_ variable: String) -> URL? {
        guard let path = ProcessInfo.processInfo.environment[variable], path.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// - Throws: `CoreDataStack.Error.unableToCreateStore`.
    static func makeFolder(for url: URL) throws {
        do {
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch {
            throw CoreDataStack.Error.unableToCreateStore(at: url)
        }
    }
}
