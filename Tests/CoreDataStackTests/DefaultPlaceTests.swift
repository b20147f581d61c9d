import Foundation
import TestSupport
import Testing

@Suite("A stack that is told no place")
struct DefaultPlaceTests {
    @Test("is in the program's folder below XDG_DATA_HOME, which is made, and is found there again")
    func dataHome() throws {
        let home = try TemporaryFolder()
        let data = home.file("not there/ü yet")
        for _ in 0..<2 {
            #expect(try place(["XDG_DATA_HOME": data.path]) == [data.path + "/StackProgram/Model.sqlite"])
        }
        #expect(FileManager.default.fileExists(atPath: data.path + "/StackProgram/Model.sqlite"))
    }

    @Test("is below ~/.local/share where that variable is empty, or no absolute path", arguments: ["", "relative/path"])
    func home(_ value: String) throws {
        let home = try TemporaryFolder()
        #expect(try place(["XDG_DATA_HOME": value, "HOME": home.url.path]) == [home.url.path + "/.local/share/StackProgram/Model.sqlite"])
    }

    @Test("cannot be made where the folder cannot, and says so")
    func notAFolder() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("a file", to: "file")
        let said = try place(["XDG_DATA_HOME": file.path])
        #expect(said.count == 1 && said[0].hasPrefix("unableToCreateStore(at: "), "\(said)")
        #expect(said[0].contains("StackProgram/Model.sqlite"))
        #expect(try Data(contentsOf: file) == Data("a file".utf8))
    }

    /// What a program says that makes a stack without a URL.
    private func place(_ environment: [String: String]) throws -> [String] {
        try OtherProcess(program: "StackProgram", ["place"], environment: environment).rest()
    }
}
