import Foundation

@testable import CoreData

/// What others saved, merged: in time or late, once or twice, by objects or by their URIs.
extension FileWalk {
    func merge(_ step: WalkStep, _ walked: WalkedContext) throws {
        if step.kind == .mergeAll {
            for piece in news { try merge(piece, walked, byURI: step.b % 4 == 0) }
            return
        }
        guard !news.isEmpty else { return }
        // Mostly what is newest.
        let piece = news[step.b % 2 == 0 ? news.count - 1 : step.a % news.count]
        try merge(piece, walked, byURI: step.kind == .mergeURIs)
        if step.kind == .mergeTwice { try merge(piece, walked, byURI: step.c % 2 == 0) }
    }

    private func merge(_ piece: WalkNews, _ walked: WalkedContext, byURI: Bool) throws {
        walked.deletesOfOthers.formUnion(piece.deleted.subtracting(walked.deleted))
        if byURI {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: piece.uris, into: [walked.context])
        } else {
            walked.context.mergeChanges(fromContextDidSave: piece.notification)
        }
        walked.requested.formUnion(piece.deleted)
        try observe(walked)
        // One that was written anew since, and not saved, is none that others have deleted.
        for serial in piece.deleted where truth.kinds[serial] == nil && walked.inserted[serial] == nil { walked.forget(serial) }
        // Of a row that is gone by now an update says nothing. The row cache of the author's coordinator is not asked to forget what others have written since.
        let isRead = byURI || piece.side != walked.side
        let known = piece.versions.filter { truth.versions[$0.key] == $0.value || (isRead && truth.kinds[$0.key] != nil) }.keys
        // A delete that was decided on stays measured against what it was decided on.
        walked.behind.subtract(Set(known).subtracting(walked.deleted))
        walked.behind.subtract(piece.deleted.filter { truth.kinds[$0] == nil })
        walked.child?.isStale = true
    }
}
