import Foundation

/// The data of an attribute that a store may keep in files of their own: a byte that says where they are, then they themselves or the
/// file's name with a final zero.
///
/// This store writes them all beside their byte, and reads what Core Data has put into files.
enum MarkedData<Bytes: Collection<UInt8>> {
    case here(Bytes.SubSequence)
    /// In the file of that name.
    case file(String)
    case damaged

    init(_ cell: Bytes) {
        switch cell.first {
        case 1: self = .here(cell.dropFirst())
        case 2: self = .file(String(decoding: cell.dropFirst().prefix { $0 != 0 }, as: UTF8.self))
        default: self = .damaged
        }
    }
}

extension MarkedData<UnsafeRawBufferPointer> {
    static func cell(_ data: Data) -> Data { Data([1]) + data }

    /// Calls `body` with the data that a cell stands for.
    ///
    /// - Parameter folder: where the store has its files; nil for one that has none.
    /// - Throws: a `CocoaError` that names the file which cannot be read, or says that the cell is damaged.
    static func content(of cell: UnsafeRawBufferPointer, in folder: URL?, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        switch MarkedData(cell) {
        case .here(let data): body(UnsafeRawBufferPointer(rebasing: data))
        // NB: only what is a UUID is the name of a file, and no path to somewhere else.
        case .file(let name):
            guard let folder, UUID(uuidString: name) != nil else { throw damage(cell) }
            try Data(contentsOf: folder.appendingPathComponent("_EXTERNAL_DATA/\(name)")).withUnsafeBytes(body)
        case .damaged: throw damage(cell)
        }
    }

    private static func damage(_ cell: UnsafeRawBufferPointer) -> CocoaError {
        let sentence = "\(cell.count) bytes that stand for data begin with no mark of where the data are, or name no file."
        return .coreData(.fileReadCorruptFile, sentence)
    }
}

extension SQLiteStore {
    /// The folder of data that Core Data keeps beside a file.
    var supportFolder: URL? { filePlace?.supportFolder }
    /// The same, where something may be removed from it.
    var ownSupportFolder: URL? { filePlace?.ownSupportFolder }

    private var filePlace: StorePlace? {
        guard type == NSSQLiteStoreType, let url, url.isFileURL else { return nil }
        return .file(url)
    }
}
