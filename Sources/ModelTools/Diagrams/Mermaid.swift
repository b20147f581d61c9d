import ModelFormat

/// An entity diagram of a model as a class diagram in Mermaid's language, which many places that show Markdown draw.
public func mermaid(of model: Model) -> String {
    let diagram = Diagram(model)
    let boxes = diagram.boxes.flatMap { box in
        ["    class \(box.name) {"] + (box.isAbstract ? ["        <<abstract>>"] : [])
            + box.rows.filter { !$0.isRelationship }.map { "        \($0.type) \($0.name)" } + ["    }"]
    }
    return (["classDiagram", "    direction LR"] + boxes + diagram.links.map { "    " + line(for: $0, in: diagram) }).joined(
        separator: "\n"
    ) + "\n"
}

private func line(for link: Diagram.Link, in diagram: Diagram) -> String {
    let (start, end) = (diagram.boxes[link.start.box].name, diagram.boxes[link.end.box].name)
    if link.start.mark == .parent { return "\(start) <|-- \(end)" }
    let names = [link.start, link.end].compactMap { end in end.row.map { diagram.boxes[end.box].rows[$0].name } }
    return "\(start) \(number(link.start.mark)) -- \(number(link.end.mark)) \(end) : \(names.joined(separator: " / "))"
}

private func number(_ mark: Diagram.Mark) -> String {
    switch mark {
    case .many: "\"*\""
    case .one, .parent: "\"1\""
    case .none: "\"\""
    }
}
