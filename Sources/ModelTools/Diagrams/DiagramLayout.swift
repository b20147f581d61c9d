/// Where the boxes of a diagram are and how its lines run, in points.
struct DiagramLayout {
    private(set) var frames: [Frame]
    private(set) var routes: [Route] = []
    private(set) var size = Point(x: 0, y: 0)
    /// The height of the line that says what the lines are.
    private(set) var legendHeight = 0.0
    private let graph: LayeredGraph

    struct Frame {
        var x, y, width, height: Double
    }

    struct Point {
        var x, y: Double
    }

    /// A line that is level at each of its points.
    struct Route {
        let points: [Point]
        /// How far a line from a box to itself goes out.
        var bulge: Double?
    }

    static let headerHeight = 28.0
    static let rowHeight = 19.0
    static let margin = 24.0
    static let legendWidth = 560.0
    private static let columnGap = 84.0
    private static let boxGap = 26.0

    init(_ diagram: Diagram) {
        graph = LayeredGraph(diagram)
        frames = diagram.boxes.map { Frame(x: 0, y: 0, width: $0.width, height: $0.height) }
        frames += Array(repeating: Frame(x: 0, y: 0, width: 0, height: 8), count: graph.nodeCount - frames.count)
        placeColumns()
        placeRows()
        route(diagram)
        size = Point(x: frames.map { $0.x + $0.width }.max() ?? 0, y: frames.map { $0.y + $0.height }.max() ?? 0)
        let outmost = zip(diagram.links, routes).map { frames[$0.start.box].x + frames[$0.start.box].width + ($1.bulge ?? 0) }.max() ?? 0
        size = Point(x: max(size.x, outmost, Self.legendWidth) + Self.margin, y: size.y + Self.margin)
        legendHeight = size.y
        size.y += Self.margin
    }

    /// Draws the lines anew, of a diagram whose rows have moved within their boxes.
    mutating func route(_ diagram: Diagram) {
        routes = zip(diagram.links, graph.chains).map { Route(points: points($0, $1)) }
        nestLoops(diagram)
    }

    private mutating func placeColumns() {
        var x = Self.margin
        for column in graph.columns {
            let width = column.map { frames[$0].width }.max() ?? 0
            // A line that passes a column goes straight through all of it.
            for node in column { (frames[node].x, frames[node].width) = (x, width) }
            x += width + Self.columnGap
        }
    }

    private mutating func placeRows() {
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

    /// Lines from a box to itself go out the further the more of them they go round.
    private mutating func nestLoops(_ diagram: Diagram) {
        let loops = diagram.links.indices.filter { diagram.links[$0].start.box == diagram.links[$0].end.box }
        for loop in loops {
            let range = routes[loop].range
            let inner = loops.filter { other in
                guard other != loop, diagram.links[other].start.box == diagram.links[loop].start.box else { return false }
                let its = routes[other].range
                return its.overlaps(range) && (its.length, other) < (range.length, loop)
            }
            routes[loop].bulge = min(34 + 18 * Double(inner.count), Self.columnGap)
        }
    }

    private func points(_ link: Diagram.Link, _ chain: [Int]) -> [Point] {
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
        // Inheritance has the upper part of a name, a relationship without an inverse the lower part.
        let header = Self.headerHeight * (end.mark == .parent || end.mark == .child ? 0.3 : 0.7)
        return frames[end.box].y + (end.row.map { Self.headerHeight + 4 + (Double($0) + 0.5) * Self.rowHeight } ?? header)
    }
}

extension DiagramLayout.Route {
    /// The heights between its ends.
    fileprivate var range: ClosedRange<Double> {
        let ends = [points.first?.y ?? 0, points.last?.y ?? 0].sorted()
        return ends[0]...ends[1]
    }
}

extension ClosedRange<Double> {
    fileprivate var length: Double { upperBound - lowerBound }
}

extension Diagram.Box {
    fileprivate var height: Double {
        DiagramLayout.headerHeight + (rows.isEmpty ? 0 : Double(rows.count) * DiagramLayout.rowHeight + 8)
    }

    fileprivate var width: Double {
        let rows = rows.map { textWidth($0.name) + textWidth($0.type) + ($0.deleteRule.map { textWidth($0) + 8 } ?? 0) + 48 }
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
