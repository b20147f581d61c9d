import Foundation
import Testing

@testable import CoreData

@Suite("A URI attribute")
struct URITests {
    let stage: Stage
    var context: NSManagedObjectContext { stage.context }

    init() throws { stage = try Stage { [Gadget.makeEntity()] } }

    @Test(
        "comes back from the file as it was set",
        arguments: ["https://example.org/a?b=c#d", "file:///tmp/a%20b", "mailto:a@example.org", "x-coredata:///Note/p1", "relative/path"]
    )
    func roundTrip(text: String) throws {
        let url = try #require(URL(string: text))
        let gadget = Gadget(context: context)
        gadget.home = url
        #expect(gadget.value(forKey: "home") as? URL == url)
        gadget.setValue(url, forKey: "manual")
        #expect(gadget.manual == url)
        try context.save()
        #expect(try stage.sql("SELECT ZHOME, typeof(ZHOME) FROM ZGADGET") == "\(text)|text")
        let found = try stage.separateContext().only(Gadget.self, "Gadget")
        #expect(found.home == url && found.manual == url)
    }

    @Test("that is nil, or no URL in the file, is nil where it can be")
    func nothing() throws {
        let gadget = Gadget(context: context)
        #expect(gadget.home == nil && gadget.value(forKey: "home") == nil && gadget.manual == URL(string: "about:blank"))
        gadget.home = URL(string: "a:b")
        gadget.home = nil
        gadget.name = "x"
        try context.save()
        #expect(try stage.sql("SELECT ZHOME IS NULL FROM ZGADGET") == "1")
        _ = try stage.sql("UPDATE ZGADGET SET ZHOME = 'http://[', ZMANUAL = ''")
        let damaged = try stage.separateContext().only(Gadget.self, "Gadget")
        #expect(damaged.home == nil && damaged.value(forKey: "home") == nil && damaged.manual == URL(string: "about:blank"))
        #expect(damaged.name == "x")
    }

    @Test("takes nothing but URLs")
    func misuse() async {
        await #expect(processExitsWith: .failure) {
            try Gadget(context: Stage { [Gadget.makeEntity()] }.context).setValue("https://example.org", forKey: "home")
        }
    }

    @Test("is found by a URL, saved or not")
    func queries() throws {
        for name in ["a", "b"] {
            let gadget = Gadget(context: context)
            gadget.name = name
            gadget.home = URL(string: "https://example.org/\(name)")
        }
        let request = NSFetchRequest<Gadget>(entityName: "Gadget")
        request.predicate = NSPredicate(format: "home == %@", NSURL(string: "https://example.org/b"))
        #expect(try context.fetch(request).map(\.name) == ["b"])
        try context.save()
        context.reset()
        #expect(try context.fetch(request).map(\.name) == ["b"])
    }
}
