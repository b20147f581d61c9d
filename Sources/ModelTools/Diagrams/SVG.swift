import Foundation
import ModelFormat

/// An entity diagram of a model as an SVG document, in the colours of the reader's light or dark mode.
public func svg(of model: Model) -> String {
    let diagram = Diagram(model).sorted()
    let layout = DiagramLayout(diagram)
    let (width, height) = (number(layout.size.x), number(layout.size.y))
    let lines = zip(diagram.links, layout.routes).map { path(of: $0, $1) }
    let boxes = zip(diagram.boxes, layout.frames).flatMap { svg(of: $0, $1) }
    let head =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" height=\"\(height)\" role=\"img\">"
    let parts = [head, "<title>Entities</title>", style, markers] + lines + boxes + legend(of: diagram, layout) + ["</svg>"]
    return parts.joined(separator: "\n") + "\n"
}

private func svg(of box: Diagram.Box, _ frame: DiagramLayout.Frame) -> [String] {
    let (header, right) = (DiagramLayout.headerHeight, number(frame.width - 12))
    let rows = box.rows.enumerated().flatMap { index, row in
        let y = number(header + 4 + (Double(index) + 0.5) * DiagramLayout.rowHeight + 4)
        let kind = row.isRelationship ? " class=\"link\"" : ""
        return [
            "<text x=\"12\" y=\"\(y)\"\(kind)>\(escaped(row.name))</text>",
            "<text x=\"\(right)\" y=\"\(y)\" class=\"type\">\(escaped(row.type))\(deleteRule(of: row))</text>",
        ]
    }
    let shape = "width=\"\(number(frame.width))\" rx=\"6\""
    return [
        "<g transform=\"translate(\(number(frame.x)) \(number(frame.y)))\">",
        "<rect \(shape) height=\"\(number(frame.height))\" class=\"box\"/>",
        "<path d=\"M0 \(header)V6a6 6 0 0 1 6 -6H\(number(frame.width - 6))a6 6 0 0 1 6 6V\(header)z\" class=\"head\"/>",
        "<text x=\"12\" y=\"19\" class=\"\(box.isAbstract ? "name abstract" : "name")\">\(escaped(box.name))</text>",
    ] + rows + ["</g>"]
}

private func deleteRule(of row: Diagram.Row) -> String {
    row.deleteRule.map { "<tspan class=\"rule\" dx=\"6\">\($0)</tspan>" } ?? ""
}

/// What the kinds of lines mean, of those that there are.
private func legend(of diagram: Diagram, _ layout: DiagramLayout) -> [String] {
    let y = layout.legendHeight
    var (x, parts): (Double, [String]) = (DiagramLayout.margin, [])
    func add(_ line: String, _ text: String) {
        parts.append("<path class=\"\(line)\" d=\"M\(number(x + 12)) \(number(y))h28\"/>")
        parts.append("<text class=\"type legend\" x=\"\(number(x + 48))\" y=\"\(number(y + 4))\">\(text)</text>")
        x += textWidth(text) + 72
    }
    if diagram.links.contains(where: \.isInheritance) { add("inherits\" marker-start=\"url(#parent)", "inherits") }
    if diagram.links.contains(where: { !$0.isInheritance }) {
        add("line", "relationship; its delete rule is nullify if none is said")
    }
    return parts
}

private func path(of link: Diagram.Link, _ route: DiagramLayout.Route) -> String {
    let drawn = [("start", link.start.mark), ("end", link.end.mark)].filter { $1 != .none && $1 != .child }
    let marks = drawn.map { " marker-\($0)=\"url(#\($1.rawValue))\"" }
    return "<path class=\"\(link.isInheritance ? "inherits" : "line")\" d=\"\(curve(route))\"\(marks.joined())/>"
}

/// From point to point, level at each of them.
private func curve(_ route: DiagramLayout.Route) -> String {
    guard let first = route.points.first else { return "" }
    return zip(route.points, route.points.dropFirst()).reduce("M\(text(first))") { path, pair in
        let middle = number(route.bulge.map { pair.0.x + $0 } ?? (pair.0.x + pair.1.x) / 2)
        return path + "C\(middle) \(number(pair.0.y)) \(middle) \(number(pair.1.y)) \(text(pair.1))"
    }
}

private func text(_ point: DiagramLayout.Point) -> String { "\(number(point.x)) \(number(point.y))" }

private func number(_ value: Double) -> String { String(Int(value.rounded())) }

private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(
        of: ">",
        with: "&gt;"
    )
}

// Colours are written out: many programs that show SVG know no variables. Those that know no dark mode show the light one.
private let style = """
    <style>
    text { font: 12px "Segoe UI", Roboto, Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1f2933; }
    .name { font-size: 14px; font-weight: 600; }
    .abstract { font-style: italic; }
    .type { fill: #6b7785; text-anchor: end; }
    .link { fill: #3d6299; }
    .box { fill: #ffffff; stroke: #c3ccd6; }
    .head { fill: #e4ecf7; }
    .rule { fill: #b3402e; }
    .legend { text-anchor: start; }
    .line, .mark { fill: none; stroke: #5b7fb5; stroke-width: 1.4; }
    .inherits { fill: none; stroke: #7d8793; stroke-width: 1.4; stroke-dasharray: 5 4; }
    .solid { fill: #ffffff; stroke: #7d8793; stroke-width: 1.4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e9ee; }
      .type { fill: #93a0ad; }
      .link { fill: #9dbbe6; }
      .box { fill: #1c2229; stroke: #3c4855; }
      .head { fill: #2a3a50; }
      .line, .mark { stroke: #7fa3d8; }
      .rule { fill: #f0907f; }
      .inherits { stroke: #8d98a5; }
      .solid { fill: #1c2229; stroke: #8d98a5; }
    }
    </style>
    """

/// What stands at the ends of lines, with the box on the right.
private let markers = """
    <defs>
    \(marker("many", "<path class=\"mark\" d=\"M0 -6L-11 0L0 6\"/>"))
    \(marker("one", "<path class=\"mark\" d=\"M-8 -5V5\"/>"))
    \(marker("parent", "<path class=\"solid\" d=\"M0 0L-12 -6V6z\"/>"))
    </defs>
    """

private func marker(_ name: String, _ shape: String) -> String {
    "<marker id=\"\(name)\" markerUnits=\"userSpaceOnUse\" markerWidth=\"16\" markerHeight=\"16\" viewBox=\"-14 -8 16 16\" refX=\"0\" refY=\"0\" "
        + "orient=\"auto-start-reverse\">\(shape)</marker>"
}
