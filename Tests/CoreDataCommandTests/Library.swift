import Foundation
import ModelFormat

/// A model of books and people in three versions, as Xcode would write it.
enum Library {
    static func write(to folder: URL) throws {
        var bundle = ModelBundle()
        bundle.versions = ["Library": try Model(xml: Data(first.utf8)), "Library 2": try Model(xml: Data(second.utf8))]
        bundle.versions["Library 3"] = try Model(xml: Data(third.utf8))
        bundle.currentVersion = "Library 2"
        try bundle.writeSource(to: folder)
    }

    private static func model(_ book: String, _ rest: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
            <entity name="Book" representedClassName=".Book" syncable="YES" codeGenerationType="class">
                \(book)
                <relationship name="authors" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Person" \
        inverseName="books" inverseEntity="Person"/>
            </entity>
            <entity name="Person" representedClassName="Person" syncable="YES" codeGenerationType="class">
                <attribute name="name" attributeType="String" defaultValueString=""/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" \
        inverseName="authors" inverseEntity="Book"/>
            </entity>\(rest)
        </model>
        """
    }

    private static let title = #"<attribute name="title" optional="YES" attributeType="String"/>"#
    private static let first = model(title)
    private static let second = model(
        #"<attribute name="name" optional="YES" attributeType="String" elementID="title"/>"#
            + #"<attribute name="pages" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES"/>"#
    )
    private static let third = model(#"<attribute name="title" attributeType="Date" usesScalarValueType="NO"/>"#)
}
