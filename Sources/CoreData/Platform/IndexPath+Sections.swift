import Foundation

/// Places in a list with sections: what UIKit and AppKit add to Foundation's type.
extension IndexPath {
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The first of two indexes.
    ///
    /// - Precondition: there are two, as of those below.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The second of two indexes.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// As `item`.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
