/// Boxes in columns such that lines lead from one column to the next, with places kept free where a line passes a column.
struct LayeredGraph {
    /// Nodes by column, in order from the top. The first nodes are the boxes, by number; the others are places where lines pass.
    var columns: [[Int]]
    /// The nodes that each link goes through, from left to right.
    let chains: [[Int]]
    let nodeCount: Int

    init(_ diagram: Diagram) {
        let count = diagram.boxes.count
        let edges = Self.withoutCircles(diagram.links.map { ($0.start.box, $0.end.box) }, count)
        let ranks = Self.ranks(edges, count)
        var columns = [[Int]](repeating: [], count: (ranks.max() ?? 0) + 1)
        for node in 0..<count { columns[ranks[node]].append(node) }
        var next = count
        chains = edges.map { edge in
            let passed = ranks[edge.left] + 1..<max(ranks[edge.right], ranks[edge.left] + 1)
            let places = passed.map { column in
                columns[column].append(next)
                next += 1
                return next - 1
            }
            return [edge.left] + places + [edge.right]
        }
        self.columns = columns
        nodeCount = next
        sortColumns()
    }

    typealias Edge = (left: Int, right: Int)

    /// The edges, those turned round that would close a circle.
    private static func withoutCircles(_ edges: [(Int, Int)], _ count: Int) -> [Edge] {
        var reach = [Set<Int>](repeating: [], count: count)
        return edges.map { from, to in
            if from == to { return (from, to) }
            let edge: Edge = reach[to].contains(from) ? (to, from) : (from, to)
            let reached = reach[edge.right].union([edge.right])
            for node in 0..<count where node == edge.left || reach[node].contains(edge.left) { reach[node].formUnion(reached) }
            return edge
        }
    }

    /// The column of each node: one after the last of those that lead to it.
    private static func ranks(_ edges: [Edge], _ count: Int) -> [Int] {
        var ranks = [Int](repeating: 0, count: count)
        for _ in 0..<count {
            for edge in edges where edge.left != edge.right { ranks[edge.right] = max(ranks[edge.right], ranks[edge.left] + 1) }
        }
        // What nothing leads to stands just before what it leads to.
        for node in 0..<count where !edges.contains(where: { $0.right == node }) {
            let nearest = edges.filter { $0.left == node && $0.right != node }.map { ranks[$0.right] }.min()
            ranks[node] = nearest.map { $0 - 1 } ?? 0
        }
        return ranks
    }

    /// The nodes in the columns to the left and to the right of each node.
    func neighbours() -> (left: [[Int]], right: [[Int]]) {
        var left = [[Int]](repeating: [], count: nodeCount)
        var right = left
        for chain in chains {
            for (from, to) in zip(chain, chain.dropFirst()) where from != to {
                right[from].append(to)
                left[to].append(from)
            }
        }
        return (left, right)
    }

    /// Brings neighbours to the same height, from left to right and back again, which unties most crossings.
    private mutating func sortColumns() {
        let (left, right) = neighbours()
        for round in 0..<12 {
            let forward = round % 2 == 0
            let order = forward ? Array(columns.indices.dropFirst()) : Array(columns.indices.dropLast().reversed())
            for column in order { sort(column, by: forward ? left : right, columns[forward ? column - 1 : column + 1]) }
        }
    }

    private mutating func sort(_ column: Int, by neighbours: [[Int]], _ reference: [Int]) {
        let places = Dictionary(uniqueKeysWithValues: reference.enumerated().map { ($1, Double($0) / Double(reference.count)) })
        let own = Dictionary(uniqueKeysWithValues: columns[column].enumerated().map { ($1, Double($0) / Double(columns[column].count)) })
        let weights = own.map { node, place in
            let met = neighbours[node].compactMap { places[$0] }
            return (node, met.isEmpty ? place : met.reduce(0, +) / Double(met.count))
        }
        columns[column] = weights.sorted { ($0.1, own[$0.0] ?? 0) < ($1.1, own[$1.0] ?? 0) }.map(\.0)
    }
}
