import Foundation
import ModelFormat
import ModelTools
import TestSupport
import Testing

@Suite("A build of a target's models")
struct TargetBuildTests {
    /// Of a target `M` with its files in the folder.
    private func build(in folder: TemporaryFolder) -> TargetBuild {
        var build = TargetBuild()
        (build.module, build.folder, build.output) = ("M", folder.url.path, folder.path("out"))
        return build
    }

    // * The model has a mandatory attribute without a default, and an attribute in its file that nobody knows.
    // => Each is told, unless the options name the place, its entity or the unknown attribute, or the model says NO.
    @Test("tells warnings at their lines, unless they are silenced")
    func silence() throws {
        let (warning, error) = ("contents:3:1: warning: Book.title is mandatory", "contents:2:1: error: odd is no attribute of <entity>")
        try expect([error, warning])
        try expect([warning], silence: ["odd"])
        try expect([], silence: ["odd", "Book.title"])
        try expect([], silence: ["odd"], userInfo: "<userInfo><entry key=\"CoreDataWarnings\" value=\"NO\"/></userInfo>")
    }

    // * The unique attribute is misspelt, and the options silence its entity.
    // => The build fails, rather than the program that opens the model.
    @Test("fails where the model contradicts itself, silenced or not")
    func contradiction() throws {
        let constraint = "<uniquenessConstraint><constraint value=\"titel\"/></uniquenessConstraint>"
        try expect(
            ["contents:2:1: error: Book has a uniqueness constraint on titel"],
            silence: ["odd", "Book", "Book.title"],
            behindAttribute: "<uniquenessConstraints>\(constraint)</uniquenessConstraints>"
        )
    }

    // * Fetch requests, a fetched property and an index have predicates: with keys that are there, that are not, and of no form.
    // => Each wrong one is told at its line: what cannot be read fails the build, and so the compilation of the model; another key is a warning.
    @Test("tells what is wrong with predicates at their lines")
    func predicates() throws {
        let folder = try TemporaryFolder()
        let lines = [
            "<model>", "<entity name=\"Book\">", "<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"/>",
            "<relationship name=\"parts\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Book\" inverseName=\"whole\"/>",
            "<relationship name=\"whole\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Book\" inverseName=\"parts\"/>",
            "<fetchedProperty name=\"longer\" optional=\"YES\">",
            "<fetchRequest name=\"r\" entity=\"Book\" predicateString=\"pages &gt; $FETCH_SOURCE.page\"/>", "</fetchedProperty>",
            "</entity>",
            request("Good", "whole.parts.@count > 1 AND SELF.pages > $MIN AND SUBQUERY(parts, $p, $p.pages > pages).@count > 1"),
            request("Wrong", "SUBQUERY(parts, $p, $p.page > 1).@count > 1 OR ANY parts.whole.titel == 'a'"), request("Bad", "pages > > 3"),
            "</model>",
        ]
        try folder.write(lines.joined(separator: "\n"), to: "M.xcdatamodel/contents")
        var build = build(in: folder)
        build.models = [folder.path("M.xcdatamodel")]
        let told = build.run().map { $0.description.replacingOccurrences(of: folder.path("M.xcdatamodel") + "/", with: "") }
        let start = "Bad has a predicate that cannot be read: Unable to parse the format string"
        #expect(
            told.dropLast() == [
                "contents:6:1: warning: Book.longer has a predicate with the key page, which Book has not: is pages meant?",
                "contents:11:1: warning: Wrong has a predicate with the key page, which Book has not: is pages meant?",
                "contents:11:1: warning: Wrong has a predicate with the key titel, which Book has not",
            ]
        )
        #expect(told.last?.hasPrefix("contents:12:1: error: \(start)") == true, "\(told)")
        let error = #expect(throws: ModelFormatError.self) {
            try ModelFile(path: folder.path("M.xcdatamodel")).compile(to: folder.file("M.mom"), module: nil)
        }
        #expect(error?.description.hasPrefix("\(folder.path("M.xcdatamodel/contents")), line 12: \(start)") == true, "\(error as Any)")
    }

    private func request(_ name: String, _ predicate: String) -> String {
        let text = predicate.replacingOccurrences(of: ">", with: "&gt;")
        return "<fetchRequest name=\"\(name)\" entity=\"Book\" predicateString=\"\(text)\"/>"
    }

    // * A folder has the name of a model's, and nothing in it.
    // => The error says what should be there.
    @Test("says that a model's folder lacks its file")
    func noContents() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file("M.xcdatamodel"), withIntermediateDirectories: true)
        let error = #expect(throws: ModelFormatError.self) { try ModelFile(path: folder.path("M.xcdatamodel")) }
        #expect(error?.description == "\(folder.path("M.xcdatamodel")): the folder has no file contents, in which the model stands")
    }

    // * Two files, one in a folder, say what Linux cannot compile.
    // => The error has the line for the manifest with both.
    @Test("says in one line what to exclude")
    func exclusions() throws {
        let folder = try TemporaryFolder()
        try folder.write("@objc class A {}", to: "Model/A.swift")
        try folder.write("let a = #keyPath(A.b)", to: "main.swift")
        var build = build(in: folder)
        build.own = [folder.path("Model/A.swift"), folder.path("main.swift")]
        let told = build.run().map(\.description)
        #expect(told.count == 3 && told[2].hasSuffix("exclude: [\"Model/A.swift\", \"main.swift\"]"), "\(told)")
    }

    // * An excluded file imports what Linux does not have.
    // => The warning has the place and the name of the import, and both cures.
    @Test("says for which import a file is left out")
    func leftOut() throws {
        let folder = try TemporaryFolder()
        try folder.write("import Foundation\nimport os.log\n@objc class A {}", to: "Model/A.swift")
        var build = build(in: folder)
        build.excluded = [folder.path("Model/A.swift")]
        let told = build.run().map(\.description)
        let start = "\(folder.path("Model/A.swift")):2:8: warning: the file is left out, because Linux has no os: "
        #expect(told.count == 1 && told[0].hasPrefix(start) && told[0].contains("#if canImport(os)"), "\(told)")
        try folder.write("{\"leaveOut\": [\"Model/A.swift\"]}", to: ".coredata.json")
        #expect(build.run().isEmpty)
    }

    // * A model lies in a folder that is excluded, beside the classes that are adopted.
    // => A warning says so, unless the options leave it out.
    @Test("says that nothing is made of a model in an excluded folder")
    func aside() throws {
        let folder = try TemporaryFolder()
        var build = build(in: folder)
        build.modelsAside = [folder.path("Model/M.xcdatamodeld")]
        let told = build.run().map(\.description)
        #expect(
            told.count == 1 && told[0].hasPrefix("\(folder.path("Model/M.xcdatamodeld")): warning: the model is in a folder"),
            "\(told)"
        )
        try folder.write("{\"leaveOut\": [\"Model\"]}", to: ".coredata.json")
        #expect(build.run().isEmpty)
    }

    // * main.swift is excluded.
    // => Its copy has the one name under which statements may stand at the top level, and sees Foundation's names that are ours.
    @Test("makes a copy of main.swift that may have statements")
    func main() throws {
        let folder = try TemporaryFolder()
        try folder.write("print(#keyPath(A.b))", to: "main.swift")
        var build = build(in: folder)
        build.excluded = [folder.path("main.swift")]
        #expect(build.run().isEmpty)
        #expect(try String(contentsOf: folder.url.appendingPathComponent("out/main.swift"), encoding: .utf8).hasPrefix("print(\"b\""))
        let names = try String(contentsOf: folder.url.appendingPathComponent("out/M+CoreDataNames.swift"), encoding: .utf8)
        #expect(names.contains("public typealias ValueTransformer = CoreData.ValueTransformer"))
        #expect(names.contains("public typealias NSCompoundPredicate = CoreData.CompoundPredicate"))
    }

    private func expect(_ beginnings: [String], silence: [String] = [], userInfo: String = "", behindAttribute: String = "") throws {
        let folder = try TemporaryFolder()
        let lines = [
            "<model>", "<entity name=\"Book\" odd=\"1\">", "<attribute name=\"title\" attributeType=\"String\">\(userInfo)</attribute>",
            "\(behindAttribute)</entity>", "</model>",
        ]
        try folder.write(lines.joined(separator: "\n"), to: "M.xcdatamodel/contents")
        try folder.write("{\"silence\": \(silence)}", to: ".coredata.json")
        var build = build(in: folder)
        build.models = [folder.path("M.xcdatamodel")]
        let told = build.run().map(\.description)
        #expect(told.count == beginnings.count, "\(told)")
        for beginning in beginnings { #expect(told.contains { $0.contains(beginning) }, "\(told)") }
    }
}
