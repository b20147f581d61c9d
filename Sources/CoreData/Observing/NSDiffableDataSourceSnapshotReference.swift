import Foundation

/// Identifiers in sections: what UIKit has for the data of a list, as far as a controller's delegate needs it.
///
/// A section's identifier is its name, an item's its object's ID. Each identifier is there once.
///
/// - Complexity: what asks for one section or item is O(1), but for the first time after items were deleted, and for what is asked of all.
open class NSDiffableDataSourceSnapshotReference: NSObject {
    private var sections: [Any] = []
    private var items: [[Any]] = []
    private var reloaded: [AnyHashable] = []
    /// Made when somebody asks, and kept up by what is appended.
    private var places: IdentifierPlaces?
    /// How many items come before each section, and the items of all sections; until the next change.
    private var starts: [Int]?
    private var all: [Any]?

    public override init() { super.init() }

    func append(_ section: String, _ ids: [NSManagedObjectID]) {
        sections.append(section)
        items.append(ids)
        forgetOrder()
        places = nil
    }

    open var numberOfItems: Int { knownStarts[sections.count] }
    open var numberOfSections: Int { sections.count }
    /// The sections in order.
    open var sectionIdentifiers: [Any] { sections }
    /// The items of all sections in order.
    open var itemIdentifiers: [Any] {
        let known = all ?? Array(items.joined())
        all = known
        return known
    }
    /// The items that have changed since the snapshot before.
    open var reloadedItemIdentifiers: [Any] { reloaded.map(\.base) }

    /// - Precondition: there is such a section.
    open func numberOfItems(inSection sectionIdentifier: Any) -> Int { items[section(sectionIdentifier)].count }

    /// - Precondition: there is such a section.
    open func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] { items[section(sectionIdentifier)] }

    /// The section that an item is in; nil for what is no item.
    open func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
        place(of: itemIdentifier).map { sections[$0.section] }
    }

    /// The index of an item among all; `NSNotFound` for what is no item.
    open func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        place(of: itemIdentifier).map { knownStarts[$0.section] + $0.index } ?? NSNotFound
    }

    /// The index of a section; `NSNotFound` for what is none.
    open func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        (sectionIdentifier as? AnyHashable).flatMap { knownPlaces.sections[$0] } ?? NSNotFound
    }

    /// - Precondition: none of the sections is there already.
    open func appendSections(withIdentifiers sectionIdentifiers: [Any]) {
        var known = knownPlaces
        places = nil
        for case let section as AnyHashable in sectionIdentifiers {
            precondition(known.sections[section] == nil, "A snapshot has a section \(section) already.")
            known.sections[section] = sections.count
            sections.append(section.base)
            items.append([])
        }
        places = known
        forgetOrder()
    }

    /// - Precondition: there is such a section, and none of the items is in the snapshot.
    open func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier sectionIdentifier: Any) {
        let section = section(sectionIdentifier)
        var known = knownPlaces
        places = nil
        for case let item as AnyHashable in identifiers {
            precondition(known.items[item] == nil, "An item is in a snapshot once.")
            known.items[item] = IdentifierPlaces.Place(section: section, index: items[section].count)
            items[section].append(item.base)
        }
        places = known
        forgetOrder()
    }

    /// Items that are not in the snapshot are left out.
    open func deleteItems(withIdentifiers identifiers: [Any]) {
        let deleted = Set(identifiers.compactMap { $0 as? AnyHashable })
        for section in Set(deleted.compactMap { knownPlaces.items[$0]?.section }) {
            items[section].removeAll { ($0 as? AnyHashable).map(deleted.contains) ?? false }
        }
        reloaded.removeAll(where: deleted.contains)
        places = nil
        forgetOrder()
    }

    /// Lists items as changed.
    open func reloadItems(withIdentifiers identifiers: [Any]) { reloaded += identifiers.compactMap { $0 as? AnyHashable } }

    private func section(_ identifier: Any) -> Int {
        let index = index(ofSectionIdentifier: identifier)
        precondition(index != NSNotFound, "A snapshot has no section \(identifier).")
        return index
    }

    private func place(of item: Any) -> IdentifierPlaces.Place? { (item as? AnyHashable).flatMap { knownPlaces.items[$0] } }

    private var knownPlaces: IdentifierPlaces {
        let known = places ?? IdentifierPlaces(sections, items)
        places = known
        return known
    }

    private var knownStarts: [Int] {
        let known = starts ?? items.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
        starts = known
        return known
    }

    private func forgetOrder() { (starts, all) = (nil, nil) }
}

/// Where a snapshot's identifiers are.
private struct IdentifierPlaces {
    struct Place {
        let section: Int
        /// Within the section.
        let index: Int
    }

    var sections: [AnyHashable: Int] = [:]
    var items: [AnyHashable: Place] = [:]

    init(_ sections: [Any], _ items: [[Any]]) {
        for (index, section) in sections.enumerated() { if let section = section as? AnyHashable { self.sections[section] = index } }
        self.items.reserveCapacity(items.reduce(0) { $0 + $1.count })
        for (section, members) in items.enumerated() {
            for (index, item) in members.enumerated() {
                if let item = item as? AnyHashable { self.items[item] = Place(section: section, index: index) }
            }
        }
    }
}
