import ArgumentParser
import CoreData
import Foundation
import ModelTools

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings a store to another version of its model, in its place.",
        discussion: """
            Prints what will be done first: entity or property, change, objects, and what becomes of their table. All of it is one transaction: whatever \
            happens, the store is the old one or the new one. Exit status: 0 where it is migrated, or opens as it is; 1 where no mapping can be \
            inferred, and where no object of the store would be left, unless that is asked for.
            """
    )

    @OptionGroup var source: StoreArgument
    @Option(help: "The version to come: .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that carries it.", completion: .file())
    var to: String
    @Option(help: "The version that the store has. Otherwise it is the one that the store carries.", completion: .file()) var from: String?
    @Option(help: "A mapping model, .cdm or .xcmappingmodel: what becomes of the objects.", completion: .file()) var mapping: String?
    @Flag(help: "Print what would be done, and do nothing.") var dryRun = false
    @Flag(help: "Migrate also where the new model has none of the entities of which there are objects.") var dropEntities = false
    @Flag(help: "Copy the store to STORE.backup first, with what it has in files of their own.") var backup = false

    private var url: URL { source.url }

    func run() throws {
        guard let migration = try prepared() else { return print("The store opens as it is: the version hashes are the same.") }
        columns(migration.rows.map { ["  " + $0.place, $0.change, "\($0.rows)", $0.manner] }).forEach { print($0) }
        try tellLoss(by: migration)
        guard !dryRun else { return }
        try flushPrinted()
        if backup { try backUp(migration) }
        try migration.run { if Self.isForPeople { Self.show($0, $1) } }
        print("\nThe store is migrated.")
    }

    private func prepared() throws -> (any FileMigration)? {
        do {
            let (newer, older) = (try managedModel(modelFile(to)), try from.map { try managedModel(modelFile($0)) })
            return try source.opening {
                if let mapping { return try MappedFileMigration(of: url, to: newer, from: older, by: mappingModel(mapping)) }
                return try StoreFileMigration(of: url, to: newer, from: older)
            }
        } catch let error as CocoaError where error.code == .inferredMappingModel {
            for reason in error.userInfo["reasons"] as? [String] ?? [] { print("! " + reason) }
            print("\nIt takes a mapping model.")
            throw answerNo
        }
    }

    /// A mapping model says itself what it leaves out.
    ///
    /// - Throws: where nothing would be left, as with the model of another program.
    private func tellLoss(by migration: any FileMigration) throws {
        let lost = migration.rows.filter(\.isLoss)
        guard !lost.isEmpty else { return }
        for row in lost { print("! All objects of \(row.place) will be lost: \(row.rows)") }
        print("\nThe new model does not have them. Where they have another name there, it takes the former one as a renaming identifier.")
        guard migration.losesAll, !dropEntities else { return }
        print("Nothing would be left of the store, and nothing was done: --drop-entities drops all.")
        throw answerNo
    }

    private func mappingModel(_ path: String) throws -> NSMappingModel {
        if let found = NSMappingModel(contentsOf: URL(fileURLWithPath: path)) { return found }
        throw Failure("There is no mapping model at \(path) that can be read.")
    }

    private func backUp(_ migration: any FileMigration) throws {
        // NB: the folder with data in files of their own is called as the store without its extension.
        let copy = URL(fileURLWithPath: url.path + (url.pathExtension.isEmpty ? "-backup" : ".backup"))
        guard !FileManager.default.fileExists(atPath: copy.path) else { throw Failure("There is a backup already: \(copy.path).") }
        try migration.backUp(to: copy)
    }

    private static var isForPeople: Bool { isatty(STDERR_FILENO) == 1 }

    private static func show(_ done: Int, _ all: Int) {
        let width = 40
        let filled = width * done / max(all, 1)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        printError("\r[\(bar)] \(done)/\(all)", terminator: done == all ? "\n" : "")
    }
}

/// What the command needs of a migration: its plan, a copy of the store, and the deed.
private protocol FileMigration {
    var rows: [StoreFileMigration.Row] { get }
    var losesAll: Bool { get }
    func backUp(to url: URL) throws
    func run(progress: @escaping (Int, Int) -> Void) throws
}

extension StoreFileMigration: FileMigration {}
extension MappedFileMigration: FileMigration {
    var losesAll: Bool { false }
}
