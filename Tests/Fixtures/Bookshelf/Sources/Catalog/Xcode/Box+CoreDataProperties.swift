//
//  Box+CoreDataProperties.swift
//  Catalog
//
//  This file was automatically generated and should not be edited.
//

import Foundation
import CoreData

extension Box {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Box> {
        return NSFetchRequest<Box>(entityName: "Box")
    }

    @NSManaged public var isFull: Bool
    @NSManaged public var label: String?
    @NSManaged public var packed: Date?
    @NSManaged public var weight: Int16
    @NSManaged public var inner: NSOrderedSet?
    @NSManaged public var outer: Box?
    @NSManaged public var shelf: Shelf?

}

// MARK: Generated accessors for inner
extension Box {

    @objc(insertObject:inInnerAtIndex:)
    @NSManaged public func insertIntoInner(_ value: Box, at idx: Int)

    @objc(removeObjectFromInnerAtIndex:)
    @NSManaged public func removeFromInner(at idx: Int)

    @objc(insertInner:atIndexes:)
    @NSManaged public func insertIntoInner(_ values: [Box], at indexes: NSIndexSet)

    @objc(removeInnerAtIndexes:)
    @NSManaged public func removeFromInner(at indexes: NSIndexSet)

    @objc(replaceObjectInInnerAtIndex:withObject:)
    @NSManaged public func replaceInner(at idx: Int, with value: Box)

    @objc(replaceInnerAtIndexes:withInner:)
    @NSManaged public func replaceInner(at indexes: NSIndexSet, with values: [Box])

    @objc(addInnerObject:)
    @NSManaged public func addToInner(_ value: Box)

    @objc(removeInnerObject:)
    @NSManaged public func removeFromInner(_ value: Box)

    @objc(addInner:)
    @NSManaged public func addToInner(_ values: NSOrderedSet)

    @objc(removeInner:)
    @NSManaged public func removeFromInner(_ values: NSOrderedSet)

}

extension Box: Identifiable {

}
