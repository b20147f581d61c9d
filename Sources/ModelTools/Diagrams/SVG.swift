import Foundation
import ModelFormat

/// An entity diagram of a model as an SVG document, in the colours of the reader's light or dark mode.
public func svg(of model: Model) -> String {
    let diagram = Diagram(model)
    let layout = DiagramLayout(diagram)
    let (width, height) = (number(layout.size.x), number(layout.size.y))
    let lines = zip(diagram.links, layout.routes).map { path(of: $0, $1) }
    let boxes = zip(diagram.boxes, layout.frames).flatMap { svg(of: $0, $1) }
    let head =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" height=\"\(height)\" role=\"img\">"
    return ([head, "<title>Entities</title>", style, markers] + lines + boxes + ["</svg>"]).joined(separator: "\n") + "\n"
}

private func svg(of box: Diagram.Box, _ frame: DiagramLayout.Frame) -> [String] {
    let (header, right) = (DiagramLayout.headerHeight, number(frame.width - 12))
    let rows = box.rows.enumerated().flatMap { index, row in
        let y = number(header + 4 + (Double(index) + 0.5) * DiagramLayout.rowHeight + 4)
        let kind = row.isRelationship ? " class=\"link\"" : ""
        return [
            "<text x=\"12\" y=\"\(y)\"\(kind)>\(escaped(row.name))</text>",
            "<text x=\"\(right)\" y=\"\(y)\" class=\"type\">\(escaped(row.type))</text>",
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

private func path(of link: Diagram.Link, _ points: [DiagramLayout.Point]) -> String {
    let marks = [("start", link.start.mark), ("end", link.end.mark)].filter { $1 != .none }.map { " marker-\($0)=\"url(#\($1.rawValue))\"" }
    return "<path class=\"line\" d=\"\(link.start.box == link.end.box ? loop(points) : curve(points))\"\(marks.joined())/>"
}

/// From point to point, level at each of them.
private func curve(_ points: [DiagramLayout.Point]) -> String {
    guard let first = points.first else { return "" }
    return zip(points, points.dropFirst()).reduce("M\(text(first))") { path, pair in
        let middle = (pair.0.x + pair.1.x) / 2
        return path + "C\(number(middle)) \(number(pair.0.y)) \(number(middle)) \(number(pair.1.y)) \(text(pair.1))"
    }
}

private func loop(_ points: [DiagramLayout.Point]) -> String {
    guard let first = points.first, let last = points.last else { return "" }
    let x = number(first.x + 36)
    return "M\(text(first))C\(x) \(number(first.y)) \(x) \(number(last.y)) \(text(last))"
}

private func text(_ point: DiagramLayout.Point) -> String { "\(number(point.x)) \(number(point.y))" }

private func number(_ value: Double) -> String { String(Int(value.rounded())) }

private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;").replacingOccurrences(
        of: ">",
        with: "&gt;"
    )
}

private let style = """
    <style>
    svg { --paper: #fff; --ink: #1f2933; --soft: #6b7785; --edge: #c3ccd6; --head: #e4ecf7; --line: #5b7fb5; }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #1c2229; --ink: #e4e9ee; --soft: #93a0ad; --edge: #3c4855; --head: #2a3a50; --line: #7fa3d8; }
    }
    text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
    .name { font-size: 14px; font-weight: 600; }
    .abstract { font-style: italic; }
    .type { fill: var(--soft); text-anchor: end; }
    .link { fill: var(--line); }
    .box { fill: var(--paper); stroke: var(--edge); }
    .head { fill: var(--head); }
    .line { fill: none; stroke: var(--line); stroke-width: 1.4; }
    .mark { fill: none; stroke: var(--line); stroke-width: 1.4; }
    .solid { fill: var(--paper); stroke: var(--line); stroke-width: 1.4; }
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
