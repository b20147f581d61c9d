/// An array of the errors behind one that stands for several.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that is not valid.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that is not valid.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The predicate that the value does not satisfy.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The value that is not valid.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// An array of the stores that the error is about.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// An array of the objects that the error is about.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// An array of merge conflicts.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's own result codes, and the user info key of such a code.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
