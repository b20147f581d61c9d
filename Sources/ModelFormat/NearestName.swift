/// The name that a misspelt one most likely stands for; nil where none is near.
package func nearest(to name: String, among names: [String]) -> String? {
    let ranked = names.map { (name: $0, distance: distance(Array(name.lowercased()), Array($0.lowercased()))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= max(1, name.count / 3) else { return nil }
    return best.name
}

/// How many letters must be changed, added, left out or exchanged with the next one.
private func distance(_ left: [Character], _ right: [Character]) -> Int {
    var (before, row): ([Int], [Int]) = ([], Array(0...right.count))
    for (i, letter) in left.enumerated() {
        var next = [i + 1]
        for (j, other) in right.enumerated() {
            var least = min(row[j + 1] + 1, next[j] + 1, row[j] + (letter == other ? 0 : 1))
            if i > 0, j > 0, letter == right[j - 1], left[i - 1] == other { least = min(least, before[j - 1] + 1) }
            next.append(least)
        }
        (before, row) = (row, next)
    }
    return row[right.count]
}
