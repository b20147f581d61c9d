import ArgumentParser
import Foundation

struct HashesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hashes",
        abstract: "Prints the version hash of each entity: its name, a tab, the hash in hexadecimal.",
        discussion: "The hashes are those of Apple's Core Data. A store opens without migration where they are the same.",
        aliases: ["hash"]
    )

    @OptionGroup var source: ModelOptions
    @Flag(help: "Print an object of names and hashes.") var json = false

    func run() throws {
        let hashes = try source.file().hashes().mapValues(hexadecimal)
        if json { return try printJSON(hashes) }
        for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) { print("\(name)\t\(hash)") }
    }
}

func hexadecimal(_ data: Data) -> String { data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
