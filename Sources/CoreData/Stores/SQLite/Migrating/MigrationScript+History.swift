import Foundation

/// The history of objects that go on in another version.
extension MigrationScript {
    /// Changes of objects whose entities are gone can be told to nobody. Where an entity has other properties now, bits would mean others.
    mutating func numberHistory() {
        guard file.hasHistory else { return }
        let gone = transition.goneNumbers
        if !gone.isEmpty { run("DELETE FROM ACHANGE WHERE ZENTITY IN (\(Self.list(gone)))") }
        let reshaped = transition.numbers.filter { !keepsBits($0) }
        if !reshaped.isEmpty { run("UPDATE ACHANGE SET ZCOLUMNS = NULL WHERE ZENTITY IN (\(Self.list(reshaped.map(\.old))))") }
        addTombstones()
        for number in transition.numbers { moveTombstones(number) }
        let changed = transition.numbers.filter { $0.old != $0.new }
        guard !changed.isEmpty else { return }
        run("UPDATE ACHANGE SET ZENTITY = \(Self.renumbered("ZENTITY", changed)) WHERE ZENTITY IN (\(Self.list(changed.map(\.old))))")
    }

    /// NB: names may have changed places.
    private func keepsBits(_ number: (old: Int, new: Int)) -> Bool {
        guard let old = transition.old.entity(numbered: number.old)?.description,
            let new = transition.new.entity(numbered: number.new)?.description
        else { return false }
        return HistoryBits(new).meansSame(as: HistoryBits(old)) { property in
            property.isTransient ? property.name : transition.models.origin(of: property, in: new)?.name
        }
    }

    /// Columns for what is kept from now on, as far as they are missing.
    private mutating func addTombstones() {
        let columns = Set(file.columns["ACHANGE"] ?? [])
        let wanted = transition.new.entities.map { $0.tombstoneAttributes.count }.max() ?? 0
        for place in 0..<wanted where !columns.contains("ZTOMBSTONE\(place)") {
            run("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(place) BLOB")
        }
    }

    /// What is kept of a deleted object stands at the place of the attribute among those of which something is kept: there may be others now.
    private mutating func moveTombstones(_ number: (old: Int, new: Int)) {
        guard let old = transition.old.entity(numbered: number.old), let new = transition.new.entity(numbered: number.new) else { return }
        let columns = Set(file.columns["ACHANGE"] ?? [])
        let places = old.tombstoneAttributes.enumerated().filter { columns.contains("ZTOMBSTONE\($0.offset)") }
        // NB: of another type an attribute is only where that has all values of the one before, in the same form.
        let origins = new.tombstoneAttributes.map { attribute in
            let origin = transition.models.origin(of: attribute, in: new.description)
            return places.first { $0.element.name == origin?.name }?.offset
        }
        var values: [String] = []
        for place in 0..<max(places.count, origins.count) {
            let origin = place < origins.count ? origins[place] : nil
            if origin == place || (origin == nil && place >= places.count) { continue }
            values.append("ZTOMBSTONE\(place) = \(origin.map { "ZTOMBSTONE\($0)" } ?? "NULL")")
        }
        if !values.isEmpty { run("UPDATE ACHANGE SET \(values.joined(separator: ", ")) WHERE ZENTITY = \(number.old) AND ZCHANGETYPE = 2") }
    }
}
