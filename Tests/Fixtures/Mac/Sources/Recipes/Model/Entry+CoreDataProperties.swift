//
//  Entry+CoreDataProperties.swift
//  Recipes
//

import Foundation
import CoreData

extension Entry {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Entry> {
        return NSFetchRequest<Entry>(entityName: "Entry")
    }

    @NSManaged public var created: Date?
    @NSManaged public var identifier: UUID?
    @NSManaged public var name: String?

}

extension Entry: Identifiable {

}
