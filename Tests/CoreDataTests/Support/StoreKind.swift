import CoreData
import Foundation

/// The kinds of stores. What stores promise is tested with each; tests that take no kind are about files.
enum StoreKind: CaseIterable {
    case file, memory

    var type: String {
        switch self {
        case .file: NSSQLiteStoreType
        case .memory: NSInMemoryStoreType
        }
    }

    /// The kind of the store at a URL.
    init(of url: URL) { self = url.query == nil ? .file : .memory }
}
