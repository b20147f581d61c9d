/// Where the boxes of a diagram are and how its lines run, in points.
struct DiagramLayout {
    private(set) var frames: [Frame]
    private(set) var routes: [[Point]] = []
    private(set) var size = Point(x: 0, y: 0)

    struct Frame {
        var x, y, width, height: Double
    }

    struct Point {
        var x, y: Double
    }

    static let headerHeight = 28.0
    static let rowHeight = 19.0
    static let margin = 24.0
    private static let columnGap = 84.0
    private static let boxGap = 26.0

    init(_ diagram: Diagram) {
        let graph = LayeredGraph(diagram)
        frames = diagram.boxes.map { Frame(x: 0, y: 0, width: $0.width, height: $0.height) }
        frames += Array(repeating: Frame(x: 0, y: 0, width: 0, height: 8), count: graph.nodeCount - frames.count)
        placeColumns(graph)
        placeRows(graph)
        routes = zip(diagram.links, graph.chains).map { route($0, $1) }
        size = Point(x: frames.map { $0.x + $0.width }.max() ?? 0, y: frames.map { $0.y + $0.height }.max() ?? 0)
        size = Point(x: size.x + Self.margin + 28, y: size.y + Self.margin)
    }

    private mutating func placeColumns(_ graph: LayeredGraph) {
        var x = Self.margin
        for column in graph.columns {
            let width = column.map { frames[$0].width }.max() ?? 0
            // A line that passes a column goes straight through all of it.
            for node in column { (frames[node].x, frames[node].width) = (x, width) }
            x += width + Self.columnGap
        }
    }

    private mutating func placeRows(_ graph: LayeredGraph) {
        for column in graph.columns { place(column, at: column.map { _ in 0 }) }
        let (left, right) = graph.neighbours()
        for round in 0..<16 {
            for column in round % 2 == 0 ? graph.columns : graph.columns.reversed() {
                place(column, at: column.map { middle(of: left[$0] + right[$0]) ?? frames[$0].y + frames[$0].height / 2 })
            }
        }
        let top = frames.map(\.y).min() ?? 0
        for node in frames.indices { frames[node].y += Self.margin - top }
    }

    private func middle(of nodes: [Int]) -> Double? {
        nodes.isEmpty ? nil : nodes.map { frames[$0].y + frames[$0].height / 2 }.reduce(0, +) / Double(nodes.count)
    }

    /// Puts nodes below each other with their middles as near as can be to the wanted ones (least squares).
    private mutating func place(_ column: [Int], at middles: [Double]) {
        var offset = 0.0
        let offsets = column.map { node in
            defer { offset += frames[node].height + Self.boxGap }
            return offset
        }
        let wanted = column.indices.map { middles[$0] - frames[column[$0]].height / 2 - offsets[$0] }
        for (index, y) in rising(wanted).enumerated() { frames[column[index]].y = y + offsets[index] }
    }

    private func route(_ link: Diagram.Link, _ chain: [Int]) -> [Point] {
        let (first, last) = chain.first == link.start.box ? (link.start, link.end) : (link.end, link.start)
        let start = Point(x: frames[first.box].x + frames[first.box].width, y: height(of: first))
        if first.box == last.box { return [start, Point(x: start.x, y: height(of: last) + (first.row == last.row ? 10 : 0))] }
        let passed = chain.dropFirst().dropLast().flatMap { node in
            let (frame, y) = (frames[node], frames[node].y + frames[node].height / 2)
            return [Point(x: frame.x, y: y), Point(x: frame.x + frame.width, y: y)]
        }
        let points = [start] + passed + [Point(x: frames[last.box].x, y: height(of: last))]
        return chain.first == link.start.box ? points : points.reversed()
    }

    private func height(of end: Diagram.End) -> Double {
        let row = end.row.map { Self.headerHeight + 4 + (Double($0) + 0.5) * Self.rowHeight } ?? Self.headerHeight / 2
        return frames[end.box].y + row
    }
}

extension Diagram.Box {
    fileprivate var height: Double {
        DiagramLayout.headerHeight + (rows.isEmpty ? 0 : Double(rows.count) * DiagramLayout.rowHeight + 8)
    }

    fileprivate var width: Double {
        let rows = rows.map { textWidth($0.name) + textWidth($0.type) + 48 }
        return max(110, textWidth(name) * 1.2 + 28, rows.max() ?? 0)
    }
}

/// The nearest numbers (least squares) of which none is below the one before it.
func rising(_ values: [Double]) -> [Double] {
    var blocks: [(sum: Double, count: Int)] = []
    for value in values {
        blocks.append((value, 1))
        while let last = blocks.last, let before = blocks.dropLast().last,
            before.sum / Double(before.count) > last.sum / Double(last.count)
        {
            blocks.removeLast(2)
            blocks.append((before.sum + last.sum, before.count + last.count))
        }
    }
    return blocks.flatMap { Array(repeating: $0.sum / Double($0.count), count: $0.count) }
}

/// About how wide a text is at 12 points, in the fonts that screens have.
func textWidth(_ text: String) -> Double {
    text.reduce(0) { width, character in
        switch character {
        case "i", "l", "I", "j", "t", "f", "r", ".", ",", ":", "'", "[", "]", "(", ")", " ": width + 4.4
        case "m", "w", "M", "W", "@", "%": width + 10.6
        case _ where character.isUppercase || !character.isASCII: width + 8.6
        default: width + 7
        }
    }
}
