import Foundation

@testable import CoreData

/// What a program does to objects.
extension FileWalk {
    func insert(_ step: WalkStep, _ walked: WalkedContext) {
        let kinds: [WalkModel.Kind] = [.owner, .chief, .item, .item, .item, .part, .part, .part, .label, .label, .desk]
        let kind = kinds[step.a % kinds.count]
        let object = NSEntityDescription.insertNewObject(forEntityName: kind.rawValue, into: walked.context)
        object.setValue(step.serial, forKey: "serial")
        walked.inserted[step.serial] = kind
        note(object, step.serial)
        if step.c % 2 == 0 { walked.held[step.serial] = object }
    }

    func setAttribute(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let serial = chosen(walked, step.a), let object = try object(serial, walked, step) else { return }
        switch step.kind {
        case .note:
            object.setValue("n\(step.b)", forKey: "note")
            if !object.isDeleted { walked.notes[serial] = (object, "n\(step.b)") }
        case .sameValue: object.setValue(object.value(forKey: "number"), forKey: "number")
        case .number: try set(.number(step.b % 4), WalkCell(serial: serial, key: "number"), of: object, walked)
        default: try set(step.b % 3 == 0 ? .empty : .text("t\(step.b)"), WalkCell(serial: serial, key: "text"), of: object, walked)
        }
        guard step.kind == .sameValue, !object.isDeleted else { return }
        let cell = WalkCell(serial: serial, key: "number")
        let value = try value(object, cell)
        if walked.edits[cell] == nil { walked.edits[cell] = .init(value: value, certainty: .orAsBefore, base: value) }
    }

    private func set(_ value: WalkValue, _ cell: WalkCell, of object: NSManagedObject, _ walked: WalkedContext) throws {
        let before = try self.value(object, cell)
        guard !object.isDeleted else { return }
        switch value {
        case .number(let number): object.setValue(number, forKey: cell.key)
        case .text(let text): object.setValue(text, forKey: cell.key)
        default: object.setValue(nil, forKey: cell.key)
        }
        note(cell, value, before: before, walked)
    }

    private func note(_ cell: WalkCell, _ value: WalkValue, before: WalkValue, _ walked: WalkedContext) {
        walked.edit(cell, value, before: before, committed: committed(cell, walked))
    }

    /// The value below a context, as far as the file tells.
    private func committed(_ cell: WalkCell, _ walked: WalkedContext) -> WalkValue {
        if walked.inserted[cell.serial] != nil || walked.inserted[cell.other] != nil { return .empty }
        return walked.parent?.edits[cell]?.value ?? truth[cell]
    }

    func setToOne(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let serial = chosen(walked, step.a, Set(WalkModel.toOnes.flatMap { kinds($0.from) })), let kind = visible(walked)[serial]
        else { return }
        let toOnes = WalkModel.toOnes(of: kind)
        let toOne = toOnes[step.b % toOnes.count]
        let target = step.c % 5 == 0 ? nil : chosen(walked, step.b, kinds(toOne.to))
        guard let object = try object(serial, walked, step) else { return }
        let other = try target.flatMap { try self.object($0, walked, step) }
        if target != nil, other == nil { return }
        try relate(object, serial, toOne, other, target, walked) { object.setValue(other, forKey: toOne.name) }
    }

    /// Does what sets `object`'s to-one relationship to `other`, and writes it down on both ends.
    private func relate(
        _ object: NSManagedObject,
        _ serial: Int,
        _ toOne: WalkModel.ToOne,
        _ other: NSManagedObject?,
        _ target: Int?,
        _ walked: WalkedContext,
        _ body: () -> Void
    ) throws {
        let cell = WalkCell(serial: serial, key: toOne.name)
        let before = try value(object, cell)
        let ends = toOne.isInverseToMany ? [] : try partners(object, serial, toOne, other, target)
        // A read may have found out that the row is gone.
        if object.isDeleted || other?.isDeleted == true { return }
        body()
        let value = target.map(WalkValue.reference) ?? .empty
        note(cell, value, before: before, walked)
        for end in [before.target, target] { if let end { walked.orders[end] = nil } }
        guard before != value else { return }
        for end in ends { note(end.cell, end.now, before: end.before, walked) }
    }

    private typealias End = (cell: WalkCell, before: WalkValue, now: WalkValue)

    /// What else a one-to-one relationship changes. Where an end has been read earlier than the other, they may not agree: who is known not to
    /// refer to somebody loses nothing.
    private func partners(
        _ object: NSManagedObject,
        _ serial: Int,
        _ toOne: WalkModel.ToOne,
        _ other: NSManagedObject?,
        _ target: Int?
    ) throws -> [End] {
        func loss(_ holder: NSManagedObject, _ key: String, _ back: String, _ lost: Int) throws -> End? {
            guard let loser = holder.value(forKey: key) as? NSManagedObject, let its = self.serial(of: loser) else { return nil }
            let cell = WalkCell(serial: its, key: back)
            return try value(loser, cell) == .reference(lost) ? (cell, .reference(lost), .empty) : nil
        }
        var ends = try [loss(object, toOne.name, toOne.inverse, serial)].compactMap { $0 }
        guard let other, let target else { return ends }
        let cell = WalkCell(serial: target, key: toOne.inverse)
        let before = try value(other, cell)
        guard before != .reference(serial) else { return ends }
        if let end = try loss(other, toOne.inverse, toOne.name, target) { ends.append(end) }
        return ends + [(cell, before, .reference(serial))]
    }

    func editMembers(_ step: WalkStep, _ walked: WalkedContext) throws {
        let toManys = WalkModel.toOnes.filter(\.isInverseToMany)
        let choice = step.c % (toManys.count + 2)
        guard choice < toManys.count else { return try editLinks(step, walked) }
        let toOne = toManys[choice]
        guard let owner = chosen(walked, step.a, kinds(toOne.to)), let member = chosen(walked, step.b, kinds(toOne.from)),
            let object = try object(owner, walked, step), let other = try self.object(member, walked, step)
        else { return }
        let cell = WalkCell(serial: member, key: toOne.name)
        let isMember = try value(other, cell) == .reference(owner)
        let adds = step.kind == .addMember
        guard adds != isMember else { return }
        // A list may have been read at another time than the member, and say that what is asked for is so already.
        let isRead = toOne.inverse == "parts" || !object.hasFault(forRelationshipNamed: toOne.inverse)
        if isRead, members(object, toOne.inverse).contains(other) == adds { return }
        let now: Int? = adds ? owner : nil
        try relate(other, member, toOne, adds ? object : nil, now, walked) {
            if toOne.inverse == "parts" {
                let members = object.mutableOrderedSetValue(forKey: "parts")
                if adds { members.add(other) } else { members.remove(other) }
            } else {
                let members = object.mutableSetValue(forKey: toOne.inverse)
                if adds { members.add(other) } else { members.remove(other) }
            }
        }
    }

    private func editLinks(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let item = chosen(walked, step.a, [.item]), let label = chosen(walked, step.b, [.label]),
            let object = try object(item, walked, step), let other = try self.object(label, walked, step)
        else { return }
        let cell = WalkCell(serial: item, key: "labels", other: label)
        let before = try value(object, cell)
        // Reading finds out whether the rows are there.
        _ = (other.value(forKey: "text"), object.value(forKey: "text"))
        if object.isDeleted || other.isDeleted { return }
        let adds = step.kind != .removeMember
        let (holder, key, member) = step.c % 2 == 0 ? (object, "labels", other) : (other, "items", object)
        // Also here, what was read earlier may say that what is asked for is so already.
        let isRead = !holder.hasFault(forRelationshipNamed: key)
        if isRead, self.members(holder, key).contains(member) == adds { return }
        let members = holder.mutableSetValue(forKey: key)
        if adds { members.add(member) } else { members.remove(member) }
        let value = adds ? WalkValue.link : .empty
        // What is done to members that nobody has read is an edit, whatever the other end says: others may see it differently.
        if value != before || walked.edits[cell] != nil || !isRead { note(cell, value, before: before, walked) }
    }

    func reorder(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let item = chosen(walked, step.a, [.item]), let object = try object(item, walked, step),
            let members = object.value(forKey: "parts") as? NSOrderedSet, members.count > 1, !object.isDeleted
        else { return }
        let parts = members.array.compactMap { $0 as? NSManagedObject }
        let order = try parts.map { ($0, try require($0, walked)) }.sorted { ($0.1 ^ step.b) < ($1.1 ^ step.b) }
        object.setValue(order.map(\.0), forKey: "parts")
        walked.orders[item] = order.map(\.1)
    }

    private func require(_ object: NSManagedObject, _ walked: WalkedContext) throws -> Int {
        guard let serial = serial(of: object) else { throw fail("a member that nobody made: \(object)", walked) }
        return serial
    }

    func delete(_ step: WalkStep, _ walked: WalkedContext) throws {
        guard let serial = chosen(walked, step.a), let object = try object(serial, walked, step) else { return }
        walked.requested.insert(serial)
        walked.context.delete(object)
        if step.b % 7 == 0 { walked.context.delete(object) }
    }
}
