import Foundation

/// The data of an attribute that a store may keep in files of their own: a byte that says where they are, then they themselves or the
/// file's name with a final zero.
///
/// This store writes them all beside their byte, and reads what Core Data has put into files.
enum MarkedData {
    private static let isHere: UInt8 = 1
    private static let isInFile: UInt8 = 2

    static func cell(_ data: Data) -> Data { Data([isHere]) + data }

    /// Calls `body` with the data that a cell stands for.
    ///
    /// - Parameter folder: where the store has its files; nil for one that has none.
    /// - Throws: a `CocoaError` that names the file which cannot be read, or says that the cell is damaged.
    static func content(of cell: UnsafeRawBufferPointer, in folder: URL?, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        switch cell.first {
        case isHere: body(UnsafeRawBufferPointer(rebasing: cell.dropFirst()))
        case isInFile:
            guard let name = name(cell), let folder else { throw damage(cell) }
            try Data(contentsOf: folder.appendingPathComponent("_EXTERNAL_DATA/\(name)")).withUnsafeBytes(body)
        default: throw damage(cell)
        }
    }

    private static func name(_ cell: UnsafeRawBufferPointer) -> String? {
        let text = String(decoding: cell.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        return UUID(uuidString: text).map { _ in text }
    }

    private static func damage(_ cell: UnsafeRawBufferPointer) -> CocoaError {
        let sentence =
            "\(cell.count) bytes of data that may be in a file begin with \(cell.first.map { "\($0)" } ?? "nothing"), not with 1 or 2."
        return .coreData(.fileReadCorruptFile, sentence)
    }
}

extension SQLiteStore {
    /// The folder of data that Core Data keeps beside a file.
    var supportFolder: URL? {
        guard type == NSSQLiteStoreType, let url, url.isFileURL else { return nil }
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }
}
