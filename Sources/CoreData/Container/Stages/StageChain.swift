/// The versions that stages go over, in order.
struct StageChain {
    private(set) var versions: [String] = []
    /// The stage that leads from a version to the next, by the place of the version.
    private(set) var customs: [Int: NSCustomMigrationStage] = [:]
    /// The number of the stage that a version is of, from 1 on.
    private var numbers: [Int] = []
    private let stages: [NSMigrationStage]

    init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        for (index, stage) in stages.enumerated() {
            switch stage {
            case let stage as NSCustomMigrationStage:
                add(stage.currentModel.versionChecksum, index)
                customs[versions.count - 1] = stage
                add(stage.nextModel.versionChecksum, index)
            case let stage as NSLightweightMigrationStage: for checksum in stage.versionChecksums { add(checksum, index) }
            default: break
            }
        }
    }

    private mutating func add(_ checksum: String, _ index: Int) {
        guard versions.last != checksum else { return }
        versions.append(checksum)
        numbers.append(index + 1)
    }

    /// A version that is in two places.
    var repeatedChecksum: String? { Dictionary(grouping: versions) { $0 }.first { $0.value.count > 1 }?.key }

    func place(of checksum: String) -> Int? { versions.firstIndex(of: checksum) }

    /// The references that name models, by checksum.
    var references: [String: NSManagedObjectModelReference] {
        let all = customs.values.flatMap { [$0.currentModel, $0.nextModel] }
        return Dictionary(all.map { ($0.versionChecksum, $0) }) { first, _ in first }
    }

    /// The place up to which a mapping is inferred from one version on: where a custom stage begins, or `end`.
    func endOfLightweight(from place: Int, end: Int) -> Int { ((place + 1)...max(end, place + 1)).first { customs[$0] != nil } ?? end }

    /// The stage that leads from a version on, as errors call it.
    func name(ofStageAt place: Int) -> String {
        let custom = customs[place]
        let number =
            custom.flatMap { custom in stages.firstIndex { $0 === custom } }.map { $0 + 1 }
            ?? (numbers.indices.contains(place + 1) ? numbers[place + 1] : numbers.last ?? 0)
        let label = stages.indices.contains(number - 1) ? stages[number - 1].label.map { " “\($0)”" } ?? "" : ""
        return "stage \(number) of \(stages.count)\(label)"
    }
}
