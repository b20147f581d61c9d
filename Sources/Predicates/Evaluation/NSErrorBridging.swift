import Foundation

/// An error that `catch let error as NSError` catches. On Linux Swift takes that pattern for one that always matches, as on a Mac, but the cast
/// fails for every error that does not say how it is bridged: it passes through the clause unseen.
public protocol _NSErrorBridging: LocalizedError, _ObjectiveCBridgeable where _ObjectiveCType == NSError {}

extension _NSErrorBridging {
    public func _bridgeToObjectiveC() -> NSError {
        // NB: not `localizedDescription`, which asks for this NSError.
        let description = errorDescription ?? "\(self)"
        return NSError(domain: _domain, code: _code, userInfo: [NSLocalizedDescriptionKey: description, carriedErrorKey: self])
    }

    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Self?) -> Bool {
        result = source.userInfo[carriedErrorKey] as? Self
        return result != nil
    }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
        var result: Self?
        guard let source, _conditionallyBridgeFromObjectiveC(source, result: &result), let result else {
            fatalError("This NSError was not made of a \(Self.self): cast it with `as?`.")
        }
        return result
    }
}

private let carriedErrorKey = "CoreDataBridgedError"
