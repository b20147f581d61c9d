import CoreData
import Foundation
import ModelFormat

/// A bundle of two versions in a folder of its own, without the file that says which is current.
final class SampleBundle {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ModelReaders-\(UUID())", isDirectory: true)
    private let bundle: URL
    private let file: URL

    init(isCompiled: Bool) throws {
        bundle = folder.appendingPathComponent(isCompiled ? "Sample.momd" : "Sample.xcdatamodeld", isDirectory: true)
        file = bundle.appendingPathComponent(isCompiled ? "VersionInfo.plist" : ".xccurrentversion")
        var versions = ModelBundle()
        for name in ["V1", "V2"] { versions.versions[name] = try Model(xml: Data("<model><entity name=\"\(name)\"/></model>".utf8)) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        if isCompiled { try versions.writeCompiled(to: bundle) } else { try versions.writeSource(to: bundle) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Reads the bundle with this as the missing file.
    func read(_ data: Data) throws {
        try data.write(to: file)
        _ = try NSManagedObjectModel(reading: bundle)
    }
}
