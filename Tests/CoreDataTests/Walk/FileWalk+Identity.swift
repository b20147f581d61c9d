import Foundation

@testable import CoreData

/// IDs: asked for, held, looked up, fetched by.
extension FileWalk {
    func obtainIDs(_ step: WalkStep, _ walked: WalkedContext) throws {
        let chosen = try walked.context.insertedObjects.map { ($0, try serials([$0], walked).first) }.filter {
            ($0.1 ?? 0) % 2 == step.a % 2
        }
        try walked.context.obtainPermanentIDs(for: chosen.map(\.0))
        for (object, serial) in chosen {
            guard let serial else { continue }
            if object.objectID.isTemporaryID { throw fail("\(serial) has no permanent ID", walked) }
            note(object, serial)
        }
    }

    /// Any ID that an object ever had leads to the one instance of it.
    func lookUp(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let serial = chosen(walked, step.a), let known = ids[serial] else { return }
        let object = try walked.context.existingObject(with: known[step.b % known.count])
        if object.isFault { throw fail("existingObject gave a fault of \(serial)", walked) }
        for id in known where walked.context.object(with: id) !== object { throw fail("\(id) is another instance of \(serial)", walked) }
        guard let number = object.value(forKey: "serial") as? NSNumber, number.intValue == serial else {
            throw fail("the object of \(serial) says that it is \(object.value(forKey: "serial") ?? "nobody")", walked)
        }
    }

    /// A predicate on IDs finds what has them, whichever coordinator they are from.
    func find(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let serial = chosen(walked, step.a), let kind = visible(walked)[serial], let known = ids[serial] else { return }
        let id = known[step.b % known.count]
        for predicate in [NSPredicate(format: "SELF == %@", id), NSPredicate(format: "SELF IN %@", [id])] {
            let request = NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)
            request.predicate = predicate
            let found = try serials(try walked.context.fetch(request), walked)
            if found != [serial] { throw fail("\(predicate) found \(found), not \(serial)", walked) }
        }
    }

    func fetch(_ step: WalkStep, _ walked: WalkedContext) throws {
        let kind = WalkModel.Kind.allCases[step.a % WalkModel.Kind.allCases.count]
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)
        if step.b % 2 == 0 { request.predicate = NSPredicate(format: "number == %d", step.b % 4) }
        request.propertiesToFetch = [nil, [], ["number"], ["text", "number"]][step.c % 4]
        let found = try serials(try walked.context.fetch(request), walked)
        try observe(walked)
        guard !walked.isStale, walked.behind.isEmpty else { return }
        for (serial, its) in visible(walked) where its == kind || (kind == .owner && its == .chief) {
            let cell = WalkCell(serial: serial, key: "number")
            let edits = walked.chain.compactMap { $0.edits[cell] }
            guard edits.allSatisfy({ $0.certainty == .sure }) else { continue }
            let matches = request.predicate == nil || (edits.last?.value ?? truth[cell]) == .number(step.b % 4)
            if found.contains(serial) != matches {
                throw fail("\(request.predicate.map { "\($0)" } ?? "all") found \(found), \(serial) should be \(matches)", walked)
            }
        }
        let extra = found.subtracting(visible(walked).keys)
        if !extra.isEmpty { throw fail("a fetch found \(extra), which are not there", walked) }
    }

    /// The store is removed, and comes back under another number; IDs that were held go on.
    func addStoreAgain(_ walked: WalkedContext) throws {
        let side = walked.side
        for other in contexts.reversed() where other.side == side { try reset(other) }
        let coordinator = coordinators[side]
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try coordinator.addPersistentStore(ofType: home.kind.type, configurationName: nil, at: url, options: nil)
    }
}
