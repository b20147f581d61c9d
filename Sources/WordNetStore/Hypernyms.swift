import WordNetData

extension Synset {
    /// The synsets that this one is a kind or an instance of.
    public var hypernyms: [Synset] {
        let symbols = [PointerType.hypernym.rawValue, PointerType.instanceHypernym.rawValue]
        return pointers.filter { symbols.contains($0.symbol) }.compactMap(\.target).sorted { $0.offset < $1.offset }
    }

    /// Every way up to a synset that has no hypernym; the longest first.
    public func hypernymPaths() -> [[Synset]] {
        paths(avoiding: [self]).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }

    // NB: WordNet 3.0 has two verbs that are each other's hypernym, so a path never comes back to where it was.
    private func paths(avoiding seen: Set<Synset>) -> [[Synset]] {
        let next = hypernyms.filter { !seen.contains($0) }
        guard !next.isEmpty else { return [[]] }
        return next.flatMap { hypernym in
            hypernym.paths(avoiding: seen.union([hypernym])).map { [hypernym] + $0 }
        }
    }
}
