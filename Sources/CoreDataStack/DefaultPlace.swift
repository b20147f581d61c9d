import Foundation

/// Where stores are when nobody says where.
enum DefaultPlace {
    /// `$XDG_DATA_HOME/EXECUTABLE/NAME.sqlite`; without that variable, `~/.local/share` stands for it.
    static func url(for name: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0, isDirectory: true) : nil }
        let data = home ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share", isDirectory: true)
        return data.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true).appendingPathComponent("\(name).sqlite")
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
