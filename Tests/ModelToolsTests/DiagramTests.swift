import Foundation
import ModelFormat
import Testing

@testable import ModelTools

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("The diagram of a model")
struct DiagramTests {
    @Test("has a box for each entity and a line for each pair of inverses and each inheritance")
    func content() {
        let diagram = Diagram(zoo)
        #expect(diagram.boxes.map(\.name) == ["Animal", "Keeper", "Tiger"])
        let lines = diagram.links.map { link in
            "\(diagram.boxes[link.start.box].name) \(link.start.mark) \(link.end.mark) \(diagram.boxes[link.end.box].name)"
        }
        #expect(lines == ["Keeper one many Animal", "Animal parent none Tiger"])
    }

    @Test("has no box over another and every line at its boxes", arguments: seeds)
    func geometry(seed: UInt64) {
        let diagram = Diagram(randomModel(seed))
        let layout = DiagramLayout(diagram)
        for (index, frame) in layout.frames.enumerated() {
            #expect(frame.x >= 0 && frame.y >= 0 && frame.x + frame.width <= layout.size.x && frame.y + frame.height <= layout.size.y)
            for other in layout.frames[(index + 1)...] { #expect(!overlap(frame, other), "seed \(seed)") }
        }
        for (link, route) in zip(diagram.links, layout.routes) {
            #expect(touches(route.first, layout.frames[link.start.box]) && touches(route.last, layout.frames[link.end.box]), "seed \(seed)")
        }
    }

    @Test("is an XML document whatever the names are")
    func document() {
        var model = zoo
        model.entities[0].attributes[0].name = "a<b&c>"
        let parser = XMLParser(data: Data(svg(of: model).utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
    }

    @Test("says the same in Mermaid's language")
    func mermaidText() {
        #expect(
            mermaid(of: zoo) == """
                classDiagram
                    direction LR
                    class Animal {
                        String? name
                    }
                    class Keeper {
                    }
                    class Tiger {
                        String? stripes
                    }
                    Keeper "1" -- "*" Animal : animals / keeper
                    Animal <|-- Tiger

                """
        )
    }

    @Test("keeps order and nearness when it spreads boxes")
    func spreading() {
        #expect(rising([1, 2, 3]) == [1, 2, 3])
        #expect(rising([3, 1, 2]) == [2, 2, 2])
        #expect(rising([0, 5, 1, 9]) == [0, 3, 3, 9])
    }

    private func overlap(_ one: DiagramLayout.Frame, _ other: DiagramLayout.Frame) -> Bool {
        one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height - 0.5
            && other.y < one.y + one.height - 0.5
    }

    private func touches(_ point: DiagramLayout.Point?, _ frame: DiagramLayout.Frame) -> Bool {
        guard let point else { return false }
        return (point.x == frame.x || point.x == frame.x + frame.width) && point.y >= frame.y && point.y <= frame.y + frame.height + 10
    }
}

private let seeds: [UInt64] = Array(1...12)

/// Entities with relationships in all directions, circles and loops too.
private func randomModel(_ seed: UInt64) -> Model {
    var state = seed
    func number(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
    var model = Model()
    model.entities = (0..<3 + number(below: 9)).map { entity("E\($0)") }
    let count = model.entities.count
    for index in 0..<count where index > 0 && number(below: 4) == 0 { model.entities[index].parent = "E\(number(below: index))" }
    for link in 0..<count * 2 {
        let (from, to) = (number(below: count), number(below: count))
        let inverse = number(below: 3) > 0 ? "in\(link)" : nil
        model.entities[from].relationships.append(relationship("out\(link)", to: "E\(to)", inverse: inverse, maxCount: number(below: 2)))
        guard let inverse else { continue }
        model.entities[to].relationships.append(relationship(inverse, to: "E\(from)", inverse: "out\(link)", maxCount: number(below: 2)))
    }
    return model
}
