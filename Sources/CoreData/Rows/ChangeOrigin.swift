/// Who makes the changes of a save, as the history of a store tells it.
package struct ChangeOrigin: Sendable {
    package var author: String?
    package var contextName: String?

    package init(author: String? = nil, contextName: String? = nil) { (self.author, self.contextName) = (author, contextName) }
}
