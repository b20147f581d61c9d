import ModelFormat

/// An entity diagram of a model as a class diagram in Mermaid's language, which many places that show Markdown draw.
public func mermaid(of model: Model) -> String {
    let diagram = Diagram(model)
    let lines = ["classDiagram", "    direction LR"] + diagram.boxes.flatMap(declaration)
    let links: [String] = diagram.links.map { "    " + line(for: $0, in: diagram) }
    return (lines + links).joined(separator: "\n") + "\n"
}

// NB: steps with types: as one expression it takes the compiler eight seconds, in the first build of whoever uses the plugin.
private func declaration(of box: Diagram.Box) -> [String] {
    var lines = ["    class \(box.name) {"]
    if box.isAbstract { lines.append("        <<abstract>>") }
    for row in box.rows where !row.isRelationship { lines.append("        \(row.type) \(row.name)") }
    return lines + ["    }"]
}

private func line(for link: Diagram.Link, in diagram: Diagram) -> String {
    let (start, end) = (diagram.boxes[link.start.box].name, diagram.boxes[link.end.box].name)
    if link.isInheritance { return "\(start) <|-- \(end)" }
    let names = [link.start, link.end].compactMap { end in end.row.map { label(of: diagram.boxes[end.box].rows[$0]) } }
    let line = [start, number(link.start.mark), "--", number(link.end.mark), end].filter { !$0.isEmpty }
    return "\(line.joined(separator: " ")) : \(names.joined(separator: " / "))"
}

private func label(of row: Diagram.Row) -> String { row.name + (row.deleteRule.map { " (\($0))" } ?? "") }

private func number(_ mark: Diagram.Mark) -> String {
    switch mark {
    case .many: "\"*\""
    case .one, .parent: "\"1\""
    case .none, .child: ""
    }
}
