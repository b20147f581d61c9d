extension String {
    /// The name of a type or an entity as a sentence has it: “an NSNumber”, “a Book”.
    var withArticle: String { (hasPrefix("NS") || "AEIOaeio".contains(prefix(1)) && !isEmpty ? "an " : "a ") + self }
}

/// The type of a value as a sentence has it: “a String”, “an Int”.
func typeName(_ value: Any) -> String { "\(type(of: value))".withArticle }
