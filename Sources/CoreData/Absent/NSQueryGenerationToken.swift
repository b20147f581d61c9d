import Foundation

@available(
    *,
    unavailable,
    message: "There are no query generations yet: a context reads what the store has at the moment. Remove the call."
)
open class NSQueryGenerationToken: NSObject {
    open class var current: NSQueryGenerationToken { absent() }
}
