import Foundation
import Glibc
import TestSupport
import Testing

@testable import CoreData

/// Each in a process of its own, which is root's no more: root may do everything.
@Suite("A place that this user may not use")
struct ForbiddenPlaceTests {
    @Test("where the folder cannot be written, the error names it, and the option by which the store is read")
    func readOnlyFolder() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try makeStore(at: folder.store)
            try becomeOrdinaryUser(of: folder, mode: 0o555)
            let message = error(code: NSFileWriteNoPermissionError) { _ = try Stack(folder.store) }
            try #require(
                message.contains("the folder \(folder.url.path) is not to be written")
                    && message.contains("NSReadOnlyPersistentStoreOption")
            )
            let stack = try Stack(folder.store, options: [NSReadOnlyPersistentStoreOption: true])
            try #require(stack.newContext().labels() == ["a", "b", "c"])
            try mode(of: folder.url, 0o755)
        }
    }

    @Test("where the file cannot be written, a save says so, and keeps what it could not write")
    func readOnlyFile() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try makeStore(at: folder.store)
            try mode(of: folder.store, 0o444)
            try becomeOrdinaryUser(of: folder, mode: 0o755)
            let context = try Stack(folder.store).newContext()
            let tag = Tag(context: context)
            let message = error(code: NSFileWriteNoPermissionError) { try context.save() }
            try #require(message.contains("the file is not to be written by this user"), "\(message)")
            try #require(context.insertedObjects == [tag])
        }
    }

    @Test(
        "where the folder cannot be searched, nothing says that there is no store, or that it was destroyed",
        arguments: ["SQLite", "Binary"]
    )
    func hiddenFolder(type: String) async {
        await #expect(processExitsWith: .success) { [type] in
            let folder = try TemporaryFolder()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.store)
            try coordinator.remove(store)
            try becomeOrdinaryUser(of: folder, mode: 0)
            let attempts: [() throws -> Void] = [
                { try coordinator.destroyPersistentStore(at: folder.store, ofType: type) },
                { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: folder.store) },
                {
                    let options = [NSReadOnlyPersistentStoreOption: true]
                    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.store, options: options)
                },
            ]
            for attempt in attempts {
                let message = error(code: NSFileReadNoPermissionError, attempt)
                try #require(message.contains(folder.store.path), "\(message)")
            }
            try mode(of: folder.url, 0o755)
            try #require(
                NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: folder.store)[NSStoreTypeKey] as? String == type
            )
        }
    }
}

/// Gives a folder with what is in it to somebody who is not root, and the process to him.
private func becomeOrdinaryUser(of folder: TemporaryFolder, mode value: Int) throws {
    let nobody: UInt32 = 65534
    guard getuid() == 0 else { return try mode(of: folder.url, value) }
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
        try #require(chown(folder.url.appendingPathComponent(path).path, nobody, nobody) == 0)
    }
    try #require(chown(folder.url.path, nobody, nobody) == 0)
    try mode(of: folder.url, value)
    try #require(setgid(nobody) == 0 && setuid(nobody) == 0)
}

private func mode(of url: URL, _ value: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: value], ofItemAtPath: url.path)
}

/// What the Cocoa error with that code says; empty where there is none.
private func error(code: Int, _ body: () throws -> Void) -> String {
    do { try body() } catch let error as CocoaError where error.errorCode == code { return error.localizedDescription } catch {
        return "\(error)"
    }
    return ""
}
