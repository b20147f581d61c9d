/// Something that `FUNCTION(target, "name:", …)` of an expression can be called on: what a selector is to an Objective-C object.
public protocol FunctionReceiver {
    /// The value of a function.
    ///
    /// - Parameter name: as the expression has it, with its colons.
    /// - Throws: where there is no such function. What is thrown reaches whoever evaluates through a throwing form.
    func value(forFunction name: String, arguments: [Any?]) throws -> Any?
}
