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
        #expect(lines == ["Keeper one many Animal", "Animal parent child Tiger"])
    }

    @Test("has no box over another and every line at its boxes", arguments: seeds)
    func geometry(seed: UInt64) {
        let diagram = Diagram(randomModel(seed)).sorted()
        let layout = DiagramLayout(diagram)
        for (index, frame) in layout.frames.enumerated() {
            #expect(frame.x >= 0 && frame.y >= 0 && frame.x + frame.width <= layout.size.x && frame.y + frame.height <= layout.size.y)
            for other in layout.frames[(index + 1)...] { #expect(!overlap(frame, other), "seed \(seed)") }
        }
        for (link, route) in zip(diagram.links, layout.routes) {
            #expect(
                touches(route.points.first, layout.frames[link.start.box]) && touches(route.points.last, layout.frames[link.end.box]),
                "seed \(seed)"
            )
        }
    }

    @Test("has no line through a box", arguments: seeds)
    func lines(seed: UInt64) {
        let diagram = Diagram(randomModel(seed)).sorted()
        let layout = DiagramLayout(diagram)
        let boxes = layout.frames.prefix(diagram.boxes.count)
        for route in layout.routes where route.bulge == nil {
            for (from, to) in zip(route.points, route.points.dropFirst()) {
                for step in 1..<16 {
                    let point = point(at: Double(step) / 16, from, to)
                    #expect(!boxes.contains { isInside(point, $0) }, "seed \(seed): \(route.points)")
                }
            }
        }
    }

    @Test("has room for every text in its box")
    func texts() {
        let layout = DiagramLayout(Diagram(zoo))
        for (box, frame) in zip(Diagram(zoo).boxes, layout.frames) {
            for row in box.rows { #expect(textWidth(row.name) + textWidth(row.type) + 24 < frame.width) }
        }
    }

    @Test("sorts relationships so that their lines do not cross")
    func sorting() {
        var model = Model()
        model.entities = [entity("A"), entity("B")]
        for name in ["one", "two", "three"] {
            model.entities[0].relationships.append(relationship(name, to: "B", inverse: name + "s", maxCount: 0))
            model.entities[1].relationships.insert(relationship(name + "s", to: "A", inverse: name, maxCount: 1), at: 0)
        }
        let diagram = Diagram(model)
        #expect(diagram.boxes.map { $0.rows.map(\.name) } == [["one", "two", "three"], ["threes", "twos", "ones"]])
        let rows = diagram.sorted().links.map { ($0.start.row, $0.end.row) }
        #expect(rows.count == 3 && rows.allSatisfy { $0 == $1 })
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

    @Test("says the delete rule of a relationship where it is not nullify, in a colour of its own")
    func deleteRules() {
        var model = zoo
        model.entities[2].relationships[0].deleteRule = .cascade
        model.entities[0].relationships[0].deleteRule = .deny
        #expect(mermaid(of: model).contains(": animals (cascade) / keeper (deny)\n"))
        let picture = svg(of: model)
        #expect(picture.contains(">cascade</tspan>") && picture.contains(">deny</tspan>") && !svg(of: zoo).contains("</tspan>"))
        #expect(picture.contains(".rule {"))
    }

    // * A subentity has a relationship without an inverse to its parent.
    @Test("keeps inheritance apart from relationships: in its line, in the place where it meets a box, and in words")
    func inheritance() throws {
        var model = Model()
        model.entities = [entity("Parent"), entity("Child")]
        model.entities[1].parent = "Parent"
        model.entities[1].relationships = [relationship("home", to: "Parent", inverse: nil, maxCount: 1)]
        let (diagram, picture) = (Diagram(model).sorted(), svg(of: model))
        let layout = DiagramLayout(diagram)
        let ends = zip(diagram.links, layout.routes).map { link, route in
            (link.isInheritance, link.start.box == 1 ? route.points.first?.y : route.points.last?.y)
        }
        let (own, other) = (try #require(ends.first { $0.0 }?.1), try #require(ends.first { !$0.0 }?.1))
        #expect(abs(own - other) > 8)
        #expect(picture.components(separatedBy: "class=\"inherits\"").count == 3 && picture.contains("stroke-dasharray"))
        #expect(picture.contains(">inherits</text>") && picture.contains(">relationship; "))
    }

    @Test("has no number at an end that nobody knows")
    func oneWay() {
        var model = zoo
        model.entities[2].relationships[0].inverse = nil
        model.entities[0].relationships = []
        #expect(mermaid(of: model).contains("    Keeper -- \"*\" Animal : animals\n"))
    }

    @Test("keeps order and nearness when it spreads boxes")
    func spreading() {
        #expect(rising([1, 2, 3]) == [1, 2, 3])
        #expect(rising([3, 1, 2]) == [2, 2, 2])
        #expect(rising([0, 5, 1, 9]) == [0, 3, 3, 9])
    }

    /// Where the curve of the picture is between two points.
    private func point(at time: Double, _ from: DiagramLayout.Point, _ to: DiagramLayout.Point) -> DiagramLayout.Point {
        let (middle, rest) = ((from.x + to.x) / 2, 1 - time)
        let weights = (rest * rest * rest, 3 * rest * rest * time, 3 * rest * time * time, time * time * time)
        return DiagramLayout.Point(
            x: weights.0 * from.x + (weights.1 + weights.2) * middle + weights.3 * to.x,
            y: (weights.0 + weights.1) * from.y + (weights.2 + weights.3) * to.y
        )
    }

    private func isInside(_ point: DiagramLayout.Point, _ frame: DiagramLayout.Frame) -> Bool {
        frame.x < point.x && point.x < frame.x + frame.width && frame.y < point.y && point.y < frame.y + frame.height
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
