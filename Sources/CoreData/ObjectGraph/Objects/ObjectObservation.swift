import Foundation
import Observation

/// Which properties of one object were read by observers, and who they are. The object has it, once somebody observes it.
final class ObjectObservation {
    private struct Property {
        /// As the model calls it; nil where nobody knows.
        let name: String?
        let tell: () -> Void
    }

    private let registrar = ObservationRegistrar()
    private var properties: [AnyKeyPath: Property] = [:]
    /// Tells this of the events of the object's context; nil as long as it is in none.
    fileprivate var observers: ContextObservers?

    func noteAccess<Object: NSManagedObject, Value>(to keyPath: KeyPath<Object, Value>, of object: Object) {
        if properties[keyPath] == nil { properties[keyPath] = property(keyPath, of: object) }
        registrar.access(object, keyPath: keyPath)
    }

    private func property<Object: NSManagedObject, Value>(_ keyPath: KeyPath<Object, Value>, of object: Object) -> Property {
        let name = (Object.self as? any KeyPathNaming.Type)?.name(of: keyPath)
        return Property(name: name) { [registrar, weak object] in
            if let object { registrar.withMutation(of: object, keyPath: keyPath) {} }
        }
    }

    /// Tells the observers of properties that may have changed; those without a name may always.
    fileprivate func tell(where mayHaveChanged: (_ name: String) -> Bool = { _ in true }) {
        for property in properties.values where property.name.map(mayHaveChanged) ?? true { property.tell() }
    }
}

/// The observed objects of one context. They keep it alive.
// Sendable: used on the context's queue, but for its end.
final class ContextObservers: ContextWatcher, @unchecked Sendable {
    private struct Entry {
        weak var observation: ObjectObservation?
    }

    private var entries: [Entry] = []
    private var countToClean = 16

    fileprivate func add(_ observation: ObjectObservation) {
        if entries.count >= countToClean {
            entries.removeAll { $0.observation == nil }
            countToClean = max(16, 2 * entries.count)
        }
        entries.append(Entry(observation: observation))
    }

    func eventEnded(_ event: ChangedObjects) {
        for object in event.updated { object.existingExtras?.observation?.tell(where: object.hasChangedInEvent) }
        for objects in [event.inserted, event.deleted, event.refreshed] {
            for object in objects { object.existingExtras?.observation?.tell() }
        }
    }

    func contextWasReset() { for observation in entries.compactMap(\.observation) { observation.tell() } }

    func contextEnded() {}
}

extension NSManagedObject {
    /// What is observed of the object; made at first use.
    final var observation: ObjectObservation {
        let observation = existingExtras?.observation ?? ObjectObservation()
        extras.observation = observation
        if observation.observers == nil, let context = registeredContext {
            let observers = context.watchers.first(ContextObservers.self) ?? ContextObservers()
            context.watchers.add(observers, of: [])
            observers.add(observation)
            observation.observers = observers
        }
        return observation
    }

    /// Whether a property may have changed in the event that the context is telling of.
    fileprivate final func hasChangedInEvent(_ name: String) -> Bool {
        // Who was told before has changed the object anew: what the event was is known no more.
        if state.contains(.touched) { return true }
        return switch scope.shape.properties[name] {
        case .attribute(let slot, _), .toOne(let slot, _): slotsOfEvent.contains(slot)
        case .toMany(let index, _): existingExtras?.toManysOfEvent.contains(index) ?? false
        case .transient, .fetched, nil: true
        }
    }
}
