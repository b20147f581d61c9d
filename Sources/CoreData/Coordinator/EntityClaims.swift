import Foundation

/// Which entity a class stands for, where there is no context to ask: the latest model in use that has one.
enum EntityClaims {
    private struct Weak {
        weak var model: NSManagedObjectModel?
    }
    private static let models = Lock<[Weak]>([])

    static func note(_ model: NSManagedObjectModel) {
        models.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(Weak(model: model))
        }
    }

    static func entity(ofClassNamed names: [String]) -> NSEntityDescription? {
        models.withLock { models in
            for case let model? in models.reversed().map(\.model) {
                if let entity = model.entitiesInIndexOrder.first(where: { names.contains($0.managedObjectClassName) }) { return entity }
            }
            return nil
        }
    }
}
