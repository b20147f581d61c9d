import Foundation

/// A value that is one element in XML.
///
/// It names each of its fields once: `exchange` reads them from an element or writes them into one, whichever `fields` is for.
protocol XMLElementValue {
    init()
    mutating func exchange(with fields: inout XMLFields) throws
}

/// The fields of an element that is being read or written.
struct XMLFields {
    private(set) var node: XMLNode
    let isReading: Bool
    private let unknowns: UnknownFields?
    private var known: Set<String> = []
    private var knownChildren: Set<String> = []

    private init(_ node: XMLNode, isReading: Bool, _ unknowns: UnknownFields? = nil) {
        self.node = node
        self.isReading = isReading
        self.unknowns = unknowns
    }

    /// - Parameter unknowns: is told what the element and those in it have and nobody names.
    static func value<Value: XMLElementValue>(of node: XMLNode, _ unknowns: UnknownFields? = nil) throws -> Value {
        var fields = XMLFields(node, isReading: true, unknowns)
        var value = Value()
        try value.exchange(with: &fields)
        return value
    }

    static func node<Value: XMLElementValue>(_ name: String, of value: Value) throws -> XMLNode {
        var fields = XMLFields(XMLNode(name), isReading: false)
        var value = value
        try value.exchange(with: &fields)
        return fields.node
    }

    func error(_ reason: String) -> ModelFormatError { node.error(reason) }
}

/// Attributes.
extension XMLFields {
    mutating func text(_ name: String, _ value: inout String?) {
        known.insert(name)
        if isReading {
            value = node.attribute(name)
        } else if let value {
            node.attributes.append((name, value))
        }
    }

    /// A text that must be there.
    mutating func name(_ name: String, _ value: inout String) throws {
        var found: String? = value
        text(name, &found)
        guard let found, !found.isEmpty else { throw error("<\(node.name)> has no \(name)") }
        value = found
    }

    /// A truth value that may be absent.
    mutating func optionalFlag(_ name: String, _ value: inout Bool?) throws {
        try converted(name, &value, "is neither YES nor NO", read: truthValue) { $0 ? "YES" : "NO" }
    }

    /// A truth value; false is not written.
    mutating func flag(_ name: String, _ value: inout Bool) throws {
        var found: Bool? = value ? true : nil
        try optionalFlag(name, &found)
        value = found ?? false
    }

    /// A number; the default is not written.
    mutating func integer(_ name: String, _ value: inout Int, absent: Int = 0) throws {
        var found: Int? = value == absent ? nil : value
        try converted(name, &found, "is no whole number", read: { Int($0) }, write: String.init)
        value = found ?? absent
    }

    /// Any value with a form as text.
    mutating func converted<Value>(
        _ name: String,
        _ value: inout Value?,
        _ problem: String,
        read: (String) throws -> Value?,
        write: (Value) throws -> String
    ) throws {
        var found = try isReading ? nil : value.map(write)
        text(name, &found)
        guard isReading else { return }
        value = try found.map { text in
            guard let value = try read(text) else { throw error("\(name)=\"\(text)\" of <\(node.name)> \(problem)") }
            return value
        }
    }
}

/// Children.
extension XMLFields {
    mutating func children<Value: XMLElementValue>(_ name: String, _ values: inout [Value]) throws {
        knownChildren.insert(name)
        if isReading {
            values = try node.children(name).map { try Self.value(of: $0, unknowns) }
        } else {
            node.children += try values.map { try Self.node(name, of: $0) }
        }
    }

    /// Children inside one that groups them; an empty group is not written.
    mutating func group<Value: XMLElementValue>(_ group: String, _ name: String, _ values: inout [Value]) throws {
        knownChildren.insert(group)
        if isReading {
            values = try node.children(group).flatMap(\.children).map { child in
                guard child.name == name else { throw child.error("<\(child.name)> stands where only <\(name)> can") }
                return try Self.value(of: child, unknowns)
            }
        } else if !values.isEmpty {
            var parent = XMLNode(group)
            parent.children = try values.map { try Self.node(name, of: $0) }
            node.children.append(parent)
        }
    }

    /// A list of texts, each an attribute of a child.
    mutating func texts(_ child: String, _ attribute: String, _ values: inout [String]) throws {
        knownChildren.insert(child)
        if isReading {
            values = try node.children(child).map { node in
                guard let text = node.attribute(attribute) else { throw node.error("<\(child)> has no \(attribute)") }
                return text
            }
        } else {
            for value in values {
                var made = XMLNode(child)
                made.attributes = [(attribute, value)]
                node.children.append(made)
            }
        }
    }

    /// Everything that no other call has named. It comes last.
    mutating func rest(_ extras: inout Model.Extras) {
        if isReading {
            let unknown = node.attributes.filter { !known.contains($0.name) }
            extras.attributes = Dictionary(unknown.map { ($0.name, $0.value) }) { first, _ in first }
            let others = node.children.filter { !knownChildren.contains($0.name) }
            extras.elements = others.map(Model.Extras.Element.init)
            unknowns?.note(unknown.map(\.name), known, of: node)
            unknowns?.note(others, knownChildren, in: node)
        } else {
            node.attributes += extras.attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            node.children += extras.elements.map(\.node)
        }
    }
}

/// What the elements of a file have and nobody names.
final class UnknownFields {
    private(set) var found: [ModelFormatError] = []

    func note(_ attributes: [String], _ known: Set<String>, of node: XMLNode) {
        found += attributes.map { node.error("\($0) is no attribute of <\(node.name)>\(Self.cure($0, known, "It can have"))") }
    }

    func note(_ children: [XMLNode], _ known: Set<String>, in node: XMLNode) {
        found += children.map { $0.error("<\($0.name)> cannot stand in <\(node.name)>\(Self.cure($0.name, known, "There can be"))") }
    }

    private static func cure(_ name: String, _ known: Set<String>, _ list: String) -> String {
        let names = known.sorted()
        let near = nearest(to: name, among: names).map { ": is \($0) meant?" } ?? "."
        return names.isEmpty ? "" : "\(near) \(list) \(names.joined(separator: ", "))"
    }
}

extension Model.Extras.Element {
    init(_ node: XMLNode) {
        name = node.name
        attributes = Dictionary(node.attributes.map { ($0.name, $0.value) }) { first, _ in first }
        text = node.trimmedText
        children = node.children.map(Self.init)
    }

    var node: XMLNode {
        var node = XMLNode(name)
        node.attributes = attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        node.text = text
        node.children = children.map(\.node)
        return node
    }
}
