/// The name of the variable that stands for the migration manager in mapping expressions.
public let NSMigrationManagerKey = "manager"
/// The name of the variable that stands for the object in the source store.
public let NSMigrationSourceObjectKey = "source"
/// The name of the variable that stands for the object in the destination store.
public let NSMigrationDestinationObjectKey = "destination"
/// The name of the variable that stands for the entity mapping at work.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The name of the variable that stands for the property mapping at work.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The name of the variable that stands for the migration policy at work.
public let NSMigrationEntityPolicyKey = "entityPolicy"
