//
//  Box+CoreDataClass.swift
//  Catalog
//
//  This file was automatically generated and should not be edited.
//

import Foundation
import CoreData

@objc(Box)
public class Box: NSManagedObject {

}
