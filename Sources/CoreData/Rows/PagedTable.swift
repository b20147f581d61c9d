/// Positive integer keys to pointers, in pages of 256: an insertion or look-up is two loads where keys are dense.
///
/// Pages far beyond the dense part are found through a dictionary. The owner guards it with a lock and calls `deallocate()`.
struct PagedTable {
    typealias Page = UnsafeMutablePointer<UnsafeRawPointer?>
    // NB: small, because keys that are scattered over a large table each cost a page.
    private static let pageSize = 256
    /// Up to here pages are in the dense part, however few of them there are.
    private static let densePages = 8192

    private var pages: UnsafeMutablePointer<Page?>
    private var pageCount: Int
    private var far: [Int: Page] = [:]
    /// The number of the first page of the dense part: 0, but where a table begins with large keys.
    private var origin = 0
    /// The page that became empty last: a single entry that comes and goes allocates nothing.
    private var spare: Page?
    private(set) var count = 0

    init() {
        pageCount = 32
        pages = .allocate(capacity: pageCount)
        pages.initialize(repeating: nil, count: pageCount)
    }

    func deallocate() {
        for index in 0..<pageCount { pages[index]?.deallocate() }
        far.values.forEach { $0.deallocate() }
        spare?.deallocate()
        pages.deallocate()
    }

    // NB: that of a temporary key, which is negative, is far beyond any page.
    @inline(__always) private static func number(_ key: Int64) -> Int { Int(truncatingIfNeeded: UInt64(bitPattern: key) &>> 8) }

    @inline(__always) private func page(_ key: Int64) -> Page? {
        let index = Self.number(key) &- origin
        if UInt(bitPattern: index) < UInt(bitPattern: pageCount) { return pages[index] }
        return far.isEmpty ? nil : far[Self.number(key)]
    }

    @inline(__always) func find(_ key: Int64) -> UnsafeRawPointer? { page(key)?[Int(truncatingIfNeeded: key & 255)] }

    @inline(__always) mutating func insert(_ key: Int64, _ value: UnsafeRawPointer) {
        let page = page(key) ?? addPage(key)
        let index = Int(truncatingIfNeeded: key & 255)
        if page[index] == nil {
            count &+= 1
            adjustLive(page, by: 1)
        }
        page[index] = value
    }

    /// Removes the entry if it still is `value`; whether it was.
    @inline(__always) @discardableResult mutating func remove(_ key: Int64, ifValue value: UnsafeRawPointer) -> Bool {
        guard let page = page(key), page[Int(truncatingIfNeeded: key & 255)] == value else { return false }
        page[Int(truncatingIfNeeded: key & 255)] = nil
        count &-= 1
        if adjustLive(page, by: -1) == 0 { freePage(key, page) }
        return true
    }

    /// The number of entries of a page stands behind them, as the bits of a pointer.
    @inline(__always) @discardableResult private func adjustLive(_ page: Page, by step: Int) -> Int {
        let live = Int(bitPattern: page[Self.pageSize]) &+ step
        page[Self.pageSize] = UnsafeRawPointer(bitPattern: live)
        return live
    }

    @inline(never) private mutating func addPage(_ key: Int64) -> Page {
        let page = spare ?? Self.emptyPage()
        spare = nil
        let number = Self.number(key)
        if count == 0 { origin = number < Self.densePages ? 0 : number }
        let index = number - origin
        // Grows with the keys as long as they are dense; a lone far key must not cost memory for all keys before it.
        if index >= 0, index < max(Self.densePages, pageCount * 4) {
            if index >= pageCount { growDirectory(toHold: index) }
            pages[index] = page
        } else {
            far[number] = page
        }
        return page
    }

    private static func emptyPage() -> Page {
        let page = Page.allocate(capacity: pageSize + 1)
        page.initialize(repeating: nil, count: pageSize + 1)
        return page
    }

    private mutating func growDirectory(toHold index: Int) {
        let newCount = max(index + 1, pageCount * 2)
        let grown = UnsafeMutablePointer<Page?>.allocate(capacity: newCount)
        grown.initialize(repeating: nil, count: newCount)
        grown.update(from: pages, count: pageCount)
        pages.deallocate()
        (pages, pageCount) = (grown, newCount)
        for (number, page) in far where (0..<newCount).contains(number - origin) {
            pages[number - origin] = page
            far[number] = nil
        }
    }

    @inline(never) private mutating func freePage(_ key: Int64, _ page: Page) {
        spare?.deallocate()
        spare = page
        let index = Self.number(key) - origin
        if (0..<pageCount).contains(index) { pages[index] = nil } else { far[Self.number(key)] = nil }
    }

    /// Calls `body` with each entry.
    func forEach(_ body: (UnsafeRawPointer) -> Void) {
        for index in 0..<pageCount { if let page = pages[index] { Self.forEach(page, body) } }
        for page in far.values { Self.forEach(page, body) }
    }

    private static func forEach(_ page: Page, _ body: (UnsafeRawPointer) -> Void) {
        for index in 0..<pageSize { if let value = page[index] { body(value) } }
    }
}
