import CoreData
import Foundation

let controller = CoreDataController.shared
let context = controller.persistentContainer.viewContext
let list = try RecipeList(context: context)

var saved: [Int] = []
let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) { note in
    saved.append((note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0)
}

let cake = Recipe(context: context)
cake.name = "Apple cake "
cake.rating = 4.5
cake.website = URL(string: "https://example.com/cake")
cake.tint = Color(red: 0.5)
cake.links = ["a", "b"]
cake.addToSteps(Step(context: context, text: "Peel", seconds: 600))
cake.addToSteps(Step(context: context, text: "Bake", seconds: 3000))
cake.insertIntoSteps(Step(context: context, text: "Wash", seconds: 60), at: 0)
cake.tags = [Tag.find("sweet", in: context), Tag.find("autumn", in: context)]

let apple = Ingredient(context: context)
apple.name = "Apple"
let line = Line(context: context)
line.amount = 4
line.measure = .piece
line.ingredient = apple
cake.mutableSetValue(forKey: #keyPath(Recipe.lines)).add(line)
controller.saveContext()

let background = controller.persistentContainer.newBackgroundContext()
background.performAndWait {
    let soup = NSEntityDescription.insertNewObject(forEntityName: "Recipe", into: background) as! Recipe
    soup.name = "Soup"
    soup.mutableOrderedSetValue(forKey: "steps").add(Step(context: background, text: "Boil", seconds: 1200))
    soup.addToTags([Tag.find("warm", in: background)])
    do { try background.save() } catch { print("background: \(error)") }
}
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
print("saved:", saved, "inserted:", list.inserted)
print("sections:", list.controller.sections?.map { "\($0.name): \($0.numberOfObjects)" } ?? [])

func names(_ predicate: NSPredicate) -> String {
    let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    do { return try context.fetch(request).map { $0.name ?? "nil" }.joined(separator: ", ") } catch { return "\(error)" }
}
print(NSSortDescriptor(keyPath: \Recipe.name, ascending: true).key ?? "in memory")
let sweet = Tag.find("sweet", in: context)
for predicate in [
    NSPredicate(format: "%K CONTAINS[cd] %@ AND servings >= %d", #keyPath(Recipe.name), "APPLE", 4),
    NSPredicate(#Predicate<Recipe> { $0.servings >= 4 && $0.website != nil }),
    NSPredicate(format: "identifier == %@", cake.identifier! as CVarArg),
    NSPredicate(format: "created <= %@ AND website != nil", Date() as CVarArg),
    NSPredicate(format: "ANY tags == %@ OR NONE tags.label IN %@", sweet, ["sweet", "sour"]),
    NSPredicate(format: "SUBQUERY(steps, $s, $s.seconds > %d AND $s.text LIKE 'B*').@count > 0", 2000),
    NSPredicate(format: "rating BETWEEN %@ AND lines.@count == 1", [4, 5]),
    NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(format: "name ==[c] $NAME").withSubstitutionVariables(["NAME": "SOUP"])]
    ),
] { print(names(predicate)) }

context.refreshAllObjects()
let steps = cake.steps?.array as? [Step] ?? []
print(cake.minutes, steps.compactMap(\.text), cake.tint?.red ?? 0, cake.links ?? [])
print(NSSet(array: [sweet, Tag.find("autumn", in: context)]).filtered(using: NSPredicate(format: "isAutumnal == YES")).count)

context.delete(apple)
do { try context.save() } catch { print((error as NSError).code == NSValidationRelationshipDeniedDeleteError) }
context.rollback()
cake.rating = 5
steps.forEach(context.delete)
do { try context.save() } catch { print(error.localizedDescription) }
context.rollback()
context.delete(cake)
controller.saveContext()
print("left:", try context.count(for: Entry.fetchRequest()), "entries,", try context.count(for: Step.fetchRequest()), "step")
try controller.deleteStore()
