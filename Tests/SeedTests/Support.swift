import CoreData
import Foundation
import TestSupport

/// The classes of `DataModel.xcdatamodeld`.
final class User: NSManagedObject {
    private static let nameKey = Attribute<String?>("name")
    private static let ageKey = Attribute<Int32>("age")
    private static let postsKey = ToMany<Post>("posts")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var age: Int32 {
        get { self[Self.ageKey] }
        set { self[Self.ageKey] = newValue }
    }
    var posts: Set<Post> {
        get { self[Self.postsKey] }
        set { self[Self.postsKey] = newValue }
    }
}

final class Post: NSManagedObject {
    private static let textKey = Attribute<String?>("text")
    private static let authorKey = ToOne<User>("author")
    var text: String? {
        get { self[Self.textKey] }
        set { self[Self.textKey] = newValue }
    }
    var author: User? {
        get { self[Self.authorKey] }
        set { self[Self.authorKey] = newValue }
    }
}

/// Stands for the documents directory of the articles' programs: a test should not write into its user's.
typealias Documents = TemporaryFolder

extension NSManagedObjectContext {
    @discardableResult func insertUser(_ name: String, age: Int32 = 0) -> User {
        let user = User(context: self)
        (user.name, user.age) = (name, age)
        return user
    }

    /// The names of all users, sorted.
    func userNames() throws -> [String] {
        let request = NSFetchRequest<User>()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try fetch(request).compactMap(\.name)
    }
}

/// Calls `start`, and waits until what it was given is called.
func answer<Answer>(_ start: (@escaping (Answer) -> Void) -> Void) async -> Answer {
    await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
}
