import CoreData

let container = NSPersistentContainer(name: "Todos")
let description = NSPersistentStoreDescription()
description.type = NSInMemoryStoreType
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in
    if let error { fatalError("\(error)") }
}
let context = container.viewContext
context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy

let ann = Person(context: context)
ann.name = "Ann"
let chores = List(context: context)
chores.title = "Chores"
chores.owner = ann

let tags = ["quick", "Dull"].map { name -> Tag in
    let tag = Tag(context: context)
    tag.name = name
    return tag
}
for (index, title) in ["Wash up", "Sweep", "Iron"].enumerated() {
    let todo = Todo(context: context)
    todo.title = title
    todo.estimate = Int32(index * 10)
    todo.tags = NSSet(array: Array(tags.prefix(index)))
    chores.addToTodos(todo)
}
try context.save()

let ordered = chores.todos?.array as? [Todo] ?? []
print(ordered.map { "\($0.title ?? "")\($0.names)" }.joined(separator: ", "))
chores.removeFromTodos(at: 0)
chores.insertIntoTodos(ordered[0], at: 2)
try context.save()
print((chores.todos?.array as? [Todo] ?? []).compactMap(\.title).joined(separator: ", "))

let request = Todo.fetchRequest()
request.predicate = NSPredicate(format: "list.owner.name == %@ AND SUBQUERY(tags, $t, $t.name ==[c] 'dull').@count > 0", "Ann")
request.sortDescriptors = [
    NSSortDescriptor(keyPath: \Todo.estimate, ascending: false), NSSortDescriptor(keyPath: \Todo.title, ascending: true),
]
print(try context.fetch(request).map { "\($0.title ?? ""): \($0.estimate)" })

container.performBackgroundTask { background in
    let tag = Tag(context: background)
    tag.name = "quick"
    background.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try? background.save()
}
let sum = try await container.performBackgroundTask { background -> Int in
    let todos = try background.fetch(Todo.fetchRequest())
    return todos.reduce(0) { $0 + Int($1.estimate) }
}
print("Minutes: \(sum)")

ordered[1].estimate = -1
do {
    try context.save()
} catch {
    print("Refused: \((error as NSError).localizedDescription)")
    context.rollback()
}
context.delete(chores)
try context.save()
print("Left: \(try context.count(for: Todo.fetchRequest())) to do, \(ann.lists?.count ?? 0) lists")
