/// What `observeValue(forKeyPath:of:change:context:)` is told: Foundation's, which Linux does not have.
@available(*, unavailable, message: "No key-value observing on Linux: import Observation; Observations { song.observed.title } tells.")
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let kindKey = Self(rawValue: "kind")
    public static let newKey = Self(rawValue: "new")
    public static let oldKey = Self(rawValue: "old")
    public static let indexesKey = Self(rawValue: "indexes")
    public static let notificationIsPriorKey = Self(rawValue: "notificationIsPrior")
}
