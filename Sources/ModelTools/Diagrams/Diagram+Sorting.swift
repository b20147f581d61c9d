extension Diagram {
    /// The diagram with the relationships in each box in the order of where their lines come from, which unties crossings.
    func sorted() -> Diagram {
        var (diagram, layout) = (self, DiagramLayout(self))
        // What one box does moves the ends of lines in others, so they take turns; after a few rounds nothing moves any more.
        for _ in 0..<4 {
            for box in boxes.indices {
                diagram.sort(box, by: layout)
                layout.route(diagram)
            }
        }
        return diagram
    }

    private mutating func sort(_ box: Int, by layout: DiagramLayout) {
        var sources = [Double](repeating: 0, count: boxes[box].rows.count)
        for (link, route) in zip(links, layout.routes) {
            let isLoop = link.start.box == link.end.box
            // The ends of a line from a box to itself stand below all others.
            if link.start.box == box, let row = link.start.row { sources[row] = isLoop ? .infinity : route.points[1].y }
            if link.end.box == box, let row = link.end.row {
                sources[row] = isLoop ? .infinity : route.points[route.points.count - 2].y
            }
        }
        reorder(box, boxes[box].order(of: sources))
    }

    /// - Parameter order: the present numbers of the box's rows.
    private mutating func reorder(_ box: Int, _ order: [Int]) {
        let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        func moved(_ end: End) -> End { end.box == box ? End(box: box, row: end.row.flatMap { places[$0] }, mark: end.mark) : end }
        boxes[box].rows = order.map { boxes[box].rows[$0] }
        links = links.map { Link(start: moved($0.start), end: moved($0.end)) }
    }
}

extension Diagram.Box {
    /// Attributes first, as they are, then relationships by source.
    fileprivate func order(of sources: [Double]) -> [Int] {
        let relationships = rows.indices.filter { rows[$0].isRelationship }
        return rows.indices.filter { !rows[$0].isRelationship } + relationships.sorted { (sources[$0], $0) < (sources[$1], $1) }
    }
}
