import CoreData
import Foundation
import TestSupport
import Testing

/// A bundle with the source of the model of notes, as SwiftPM puts one beside an executable.
final class ModelFiles {
    private let home: TemporaryFolder
    let folder: URL

    /// - Parameter name: that of the model; nil for a bundle without one.
    init(_ name: String?) throws {
        home = try TemporaryFolder()
        folder = home.file("Notes_Target.resources")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let name { try Self.write(to: folder.appendingPathComponent("\(name).xcdatamodeld/\(name).xcdatamodel")) }
    }

    var bundle: Bundle { get throws { try #require(Bundle(url: folder)) } }

    static func write(to version: URL) throws {
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(source.utf8).write(to: version.appendingPathComponent("contents"))
    }

    private static let source = """
        <model>
            <entity name="Note" representedClassName="\(NSStringFromClass(Note.self))">
                <attribute name="text" attributeType="String"/>
                <attribute name="number" optional="YES" attributeType="Integer 64"/>
                <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Folder" inverseName="notes"/>
            </entity>
            <entity name="Folder" representedClassName="\(NSStringFromClass(Folder.self))">
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="notes" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Note" inverseName="folder"/>
            </entity>
        </model>
        """
}
