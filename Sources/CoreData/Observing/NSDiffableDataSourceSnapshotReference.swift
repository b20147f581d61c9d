import Foundation

/// Identifiers in sections: what UIKit has for the data of a list, as far as a controller's delegate needs it.
///
/// A section's identifier is its name, an item's its object's ID. Each identifier is there once.
open class NSDiffableDataSourceSnapshotReference: NSObject {
    private var sections: [AnyHashable] = []
    private var items: [[AnyHashable]] = []
    /// The sections of items, made when somebody asks for one.
    private var places: [AnyHashable: Int]?
    private var reloaded: [AnyHashable] = []

    public override init() { super.init() }

    func append(_ section: String, _ ids: [NSManagedObjectID]) {
        sections.append(section)
        items.append(ids)
        places = nil
    }

    open var numberOfItems: Int { items.reduce(0) { $0 + $1.count } }
    open var numberOfSections: Int { sections.count }
    /// The sections in order.
    open var sectionIdentifiers: [Any] { sections.map(\.base) }
    /// The items of all sections in order.
    open var itemIdentifiers: [Any] { items.joined().map(\.base) }
    /// The items that have changed since the snapshot before.
    open var reloadedItemIdentifiers: [Any] { reloaded.map(\.base) }

    /// - Precondition: there is such a section.
    open func numberOfItems(inSection sectionIdentifier: Any) -> Int { items[section(sectionIdentifier)].count }

    /// - Precondition: there is such a section.
    open func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] { items[section(sectionIdentifier)].map(\.base) }

    /// The section that an item is in; nil for what is no item.
    open func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
        place(of: itemIdentifier).map { sections[$0].base }
    }

    /// The index of an item among all; `NSNotFound` for what is no item.
    open func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        guard let item = itemIdentifier as? AnyHashable, let section = place(of: item), let index = items[section].firstIndex(of: item)
        else { return NSNotFound }
        return items[..<section].reduce(index) { $0 + $1.count }
    }

    /// The index of a section; `NSNotFound` for what is none.
    open func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        (sectionIdentifier as? AnyHashable).flatMap(sections.firstIndex(of:)) ?? NSNotFound
    }

    /// - Precondition: none of the sections is there already.
    open func appendSections(withIdentifiers sectionIdentifiers: [Any]) {
        for case let section as AnyHashable in sectionIdentifiers {
            precondition(!sections.contains(section), "A snapshot has a section \(section) already.")
            sections.append(section)
            items.append([])
        }
    }

    /// - Precondition: there is such a section, and none of the items is in the snapshot.
    open func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier sectionIdentifier: Any) {
        let added = identifiers.compactMap { $0 as? AnyHashable }
        precondition(added.allSatisfy { place(of: $0) == nil }, "An item is in a snapshot once.")
        items[section(sectionIdentifier)] += added
        places = nil
    }

    /// Items that are not in the snapshot are left out.
    open func deleteItems(withIdentifiers identifiers: [Any]) {
        let deleted = Set(identifiers.compactMap { $0 as? AnyHashable })
        items = items.map { $0.filter { !deleted.contains($0) } }
        reloaded.removeAll(where: deleted.contains)
        places = nil
    }

    /// Lists items as changed.
    open func reloadItems(withIdentifiers identifiers: [Any]) { reloaded += identifiers.compactMap { $0 as? AnyHashable } }

    private func section(_ identifier: Any) -> Int {
        let index = index(ofSectionIdentifier: identifier)
        precondition(index != NSNotFound, "A snapshot has no section \(identifier).")
        return index
    }

    private func place(of item: Any) -> Int? {
        guard let item = item as? AnyHashable else { return nil }
        let known = places ?? Dictionary(items.enumerated().flatMap { place, items in items.map { ($0, place) } }) { first, _ in first }
        places = known
        return known[item]
    }
}
