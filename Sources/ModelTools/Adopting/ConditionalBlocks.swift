/// Which tokens of a file are compiled on Linux, as far as its `#if` conditions say it for sure.
struct ConditionalBlocks {
    /// For each token whether it may be compiled: false only in a block that never is.
    private(set) var isActive: [Bool]

    private struct Block {
        /// Whether this part is compiled; nil where that is up to the build.
        var part: Bool?
        /// Whether an earlier part was, so that this one is not.
        var earlier: Bool?
    }

    init(_ source: SwiftTokens) {
        isActive = Array(repeating: true, count: source.tokens.count)
        var (blocks, index): ([Block], Int) = ([], 0)
        while index < source.tokens.count {
            let end = Self.endOfDirective(at: index, in: source)
            if end > index { Self.follow(source, index + 1..<end, &blocks) }
            let isDead = blocks.contains { $0.part == false }
            for place in index..<max(end, index + 1) { isActive[place] = !isDead && end <= index }
            index = max(end, index + 1)
        }
    }

    /// The index behind a directive that begins at a token; that of the token itself where none does.
    private static func endOfDirective(at index: Int, in source: SwiftTokens) -> Int {
        guard source[index] == "#", ["if", "elseif", "else", "endif"].contains(source[index + 1]) else { return index }
        let line = source.tokens[index].line
        return source.tokens[index...].firstIndex { $0.line != line } ?? source.tokens.count
    }

    private static func follow(_ source: SwiftTokens, _ directive: Range<Int>, _ blocks: inout [Block]) {
        let condition = source.tokens[directive].dropFirst().map(\.text)
        switch source[directive.lowerBound] {
        case "if": blocks.append(Block(part: Condition(condition).value, earlier: false))
        case "endif": _ = blocks.popLast()
        case let word:
            guard var block = blocks.popLast() else { return }
            block.earlier = Condition.or(block.earlier, block.part)
            let value = word == "else" ? true : Condition(condition).value
            block.part = Condition.and(block.earlier.map { !$0 }, value)
            blocks.append(block)
        }
    }
}

/// A condition of `#if`, true or false on Linux; nil where that is up to the build.
private struct Condition {
    private let words: [String]
    private var index = 0
    private(set) var value: Bool?

    init(_ words: [String]) {
        self.words = words
        value = disjunction(depth: 0)
    }

    static func or(_ left: Bool?, _ right: Bool?) -> Bool? {
        left == true || right == true ? true : left == nil || right == nil ? nil : false
    }

    static func and(_ left: Bool?, _ right: Bool?) -> Bool? { or(left.map { !$0 }, right.map { !$0 }).map { !$0 } }

    private var word: String { index < words.count ? words[index] : "" }

    private mutating func skip(_ sign: String) -> Bool {
        guard word == sign, index + 1 < words.count, words[index + 1] == sign else { return false }
        index += 2
        return true
    }

    private mutating func disjunction(depth: Int) -> Bool? {
        var found = conjunction(depth: depth)
        while skip("|") { found = Self.or(found, conjunction(depth: depth)) }
        return found
    }

    private mutating func conjunction(depth: Int) -> Bool? {
        var found = term(depth: depth)
        while skip("&") { found = Self.and(found, term(depth: depth)) }
        return found
    }

    /// - Parameter depth: of parentheses. Nobody nests them deep, and the stack has an end.
    private mutating func term(depth: Int) -> Bool? {
        defer { index += 1 }
        var isNegated = false
        while word == "!" { (isNegated, index) = (!isNegated, index + 1) }
        guard depth < 64 else { return nil }
        if word != "(" { return name().map { $0 != isNegated } }
        index += 1
        return disjunction(depth: depth + 1).map { $0 != isNegated }
    }

    /// `os(macOS)`, `canImport(UIKit)`, `true`, and what only the build knows.
    private mutating func name() -> Bool? {
        let name = word
        if ["true", "false"].contains(name) { return name == "true" }
        guard index + 1 < words.count, words[index + 1] == "(" else { return nil }
        let argument = index + 2 < words.count ? words[index + 2] : ""
        while word != ")", index < words.count { index += 1 }
        switch name {
        case "os": return argument == "Linux"
        case "canImport": return AppleModules.names.contains(argument) ? false : nil
        case "targetEnvironment": return false
        default: return nil
        }
    }
}

/// Modules that only Apple's platforms have.
enum AppleModules {
    // NB: without those whose names are words that a package may have for a module of its own.
    static let names: Set = [
        "ActivityKit", "AppKit", "AppIntents", "AVFoundation", "BackgroundTasks", "CloudKit", "Cocoa", "Combine", "CoreGraphics",
        "CoreImage", "CoreLocation", "CoreSpotlight", "CryptoKit", "Darwin", "EventKit", "HealthKit", "LocalAuthentication",
        "MapKit", "MessageUI", "ObjectiveC", "PhotosUI", "QuartzCore", "SpriteKit",
        "StoreKit", "SwiftData", "SwiftUI", "UIKit", "UniformTypeIdentifiers", "UserNotifications", "WatchConnectivity", "WatchKit",
        "WebKit", "WidgetKit", "os",
    ]
}
