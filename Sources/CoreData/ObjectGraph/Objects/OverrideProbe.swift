import Foundation

/// Tells whether a class overrides a hook, so that the hook is called only where it does something.
///
/// NB: Swift has no way to ask. What there is: a class' metadata ends in a table of its methods, and an inherited method has the same entry
/// in both classes. The entry's place is found by comparing a class that overrides the hook with one that overrides nothing. Where the
/// comparison gives no single place, every class counts as overriding.
enum OverrideProbe {
    private class Plain: NSManagedObject {}

    private class ValidateValue: NSManagedObject {
        override func validateValue(_ value: inout Any?, forKey key: String) throws {}
    }

    private class WillSave: NSManagedObject {
        override func willSave() {}
    }

    private class DidSave: NSManagedObject {
        override func didSave() {}
    }

    private class ValidateForInsert: NSManagedObject {
        override func validateForInsert() throws {}
    }

    private class UndefinedKey: NSManagedObject {
        override func value(forUndefinedKey key: String) -> Any? { nil }
    }

    private static let validateValueEntry = entry(of: ValidateValue.self)
    private static let willSaveEntry = entry(of: WillSave.self)
    private static let didSaveEntry = entry(of: DidSave.self)
    private static let validateForInsertEntry = entry(of: ValidateForInsert.self)
    private static let undefinedKeyEntry = entry(of: UndefinedKey.self)

    static func overridesValidateValue(_ objectClass: NSManagedObject.Type) -> Bool { overrides(validateValueEntry, objectClass) }
    static func overridesWillSave(_ objectClass: NSManagedObject.Type) -> Bool { overrides(willSaveEntry, objectClass) }
    static func overridesDidSave(_ objectClass: NSManagedObject.Type) -> Bool { overrides(didSaveEntry, objectClass) }
    static func overridesValueForUndefinedKey(_ objectClass: NSManagedObject.Type) -> Bool { overrides(undefinedKeyEntry, objectClass) }
    static func overridesValidateForInsert(_ objectClass: NSManagedObject.Type) -> Bool { overrides(validateForInsertEntry, objectClass) }

    private static func overrides(_ entry: Int?, _ objectClass: NSManagedObject.Type) -> Bool {
        overrides(entry, objectClass, below: NSManagedObject.self)
    }

    private static func entry(of probe: NSManagedObject.Type) -> Int? { entry(of: probe, beside: Plain.self, below: NSManagedObject.self) }

    /// Whether a class below another has a method of its own at a place in the table.
    static func overrides(_ entry: Int?, _ aClass: AnyClass, below base: AnyClass) -> Bool {
        guard let entry else { return true }
        return word(entry, aClass) != word(entry, base)
    }

    /// The place of the one method that a class overrides.
    ///
    /// - Parameter plain: a class that overrides nothing.
    static func entry(of probe: AnyClass, beside plain: AnyClass, below base: AnyClass) -> Int? {
        let entries = (firstMethod..<wordCount(base)).filter {
            word($0, probe) != word($0, base) && word($0, plain) == word($0, base)
        }
        return entries.count == 1 ? entries[0] : nil
    }

    // The words before hold kind, superclass, flags, sizes and the descriptor, which differ between all classes.
    private static let firstMethod = 7

    /// The size of a class' metadata behind its address point, in words: the class size less the address point, as the metadata says.
    private static func wordCount(_ aClass: AnyClass) -> Int {
        let metadata = metadata(aClass)
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let addressPoint = metadata.load(fromByteOffset: 36, as: UInt32.self)
        return Int(size - addressPoint) / MemoryLayout<UInt>.size
    }

    /// How many bytes an object has, without padding.
    static func instanceSize(of objectClass: NSManagedObject.Type) -> UInt32 {
        metadata(objectClass).load(fromByteOffset: 24, as: UInt32.self)
    }

    private static func word(_ index: Int, _ aClass: AnyClass) -> UInt {
        metadata(aClass).load(fromByteOffset: index * MemoryLayout<UInt>.size, as: UInt.self)
    }

    /// A class' metadata is what its metatype points to; that of a subclass begins with all of its superclass' entries.
    static func metadata(_ aClass: AnyClass) -> UnsafeRawPointer {
        unsafeBitCast(aClass, to: UnsafeRawPointer.self)
    }
}
