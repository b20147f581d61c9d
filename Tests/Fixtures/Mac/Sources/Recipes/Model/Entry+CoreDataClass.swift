//
//  Entry+CoreDataClass.swift
//  Recipes
//

import CoreData
import Foundation

@objc(Entry)
public class Entry: NSManagedObject {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(UUID(), forKey: #keyPath(Entry.identifier))
        setPrimitiveValue(Date(), forKey: "created")
    }
}
