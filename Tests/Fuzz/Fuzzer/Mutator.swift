import Foundation
@testable import ModelFormat

/// libFuzzer's own changes of bytes.
@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ capacity: Int) -> Int

/// Changes objects of an archive rather than bytes, which would hardly ever leave one: each object lies where a table says.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ capacity: Int, _ seed: UInt32) -> Int {
    var generator = Generator(state: UInt64(seed))
    // The fuzzer's buffer has `capacity` bytes, `count` of them in use.
    let buffer = UnsafeMutableBufferPointer(start: start, count: capacity)
    guard reader.kind.isArchive, generator.next() % 8 != 0,
        let changed = ArchiveMutation(Data(buffer[..<count]))?.changed(&generator), changed.count <= capacity
    else { return mutateBytes(start, count, capacity) }
    _ = buffer.update(from: changed)
    return changed.count
}

struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 16
    }
}

/// An archive in which references and values are exchanged.
private struct ArchiveMutation {
    private var list: [String: PropertyListNode]
    private var objects: [PropertyListNode]

    init?(_ data: Data) {
        let root = try? PropertyListNode(data)
        guard case .dictionary(let list)? = root, case .array(let objects)? = list["$objects"], !objects.isEmpty else { return nil }
        (self.list, self.objects) = (list, objects)
    }

    func changed(_ generator: inout Generator) -> [UInt8] {
        var copy = self
        for _ in 0...(generator.next() % 3) { copy.change(&generator) }
        copy.list["$objects"] = .array(copy.objects)
        return BinaryPropertyList.bytes(of: .dictionary(copy.list))
    }

    private mutating func change(_ generator: inout Generator) {
        let place = objects.indices.randomElement(using: &generator) ?? 0
        switch generator.next() % 8 {
        case 0: objects[place] = objects.randomElement(using: &generator) ?? .null
        case 1: objects[place] = value(&generator)
        case 2: objects.append(objects[place])
        default: objects[place] = changed(objects[place], &generator)
        }
    }

    /// A part of a node, however deep, as another.
    private func changed(_ node: PropertyListNode, _ generator: inout Generator) -> PropertyListNode {
        switch node {
        case .dictionary(var entries):
            guard let key = entries.keys.sorted().randomElement(using: &generator), let old = entries[key] else { return node }
            switch generator.next() % 8 {
            case 0: entries[key] = nil
            case 1: entries[anyKey(&generator) ?? key] = old
            default: entries[key] = changed(old, &generator)
            }
            return .dictionary(entries)
        case .array(var elements):
            guard let place = elements.indices.randomElement(using: &generator) else { return .array([value(&generator)]) }
            switch generator.next() % 8 {
            case 0: elements.remove(at: place)
            case 1: elements.append(elements[place])
            default: elements[place] = changed(elements[place], &generator)
            }
            return .array(elements)
        case .integer(let number) where generator.next() % 2 == 0: return .integer(number ^ (1 << Int64(generator.next() % 12)))
        case .string(let text) where generator.next() % 2 == 0: return .string(changed(text, &generator))
        default: return value(&generator)
        }
    }

    /// A text whose bytes the fuzzer has changed.
    private func changed(_ text: String, _ generator: inout Generator) -> String {
        var bytes = Array(text.utf8)
        let count = bytes.count
        bytes += [UInt8](repeating: 0, count: 16)
        let changed = bytes.withUnsafeMutableBufferPointer { buffer in
            // It is not empty.
            mutateBytes(buffer.baseAddress!, count, buffer.count)
        }
        return String(decoding: bytes[..<changed], as: UTF8.self)
    }

    private func anyKey(_ generator: inout Generator) -> String? {
        guard case .dictionary(let entries)? = objects.randomElement(using: &generator) else { return nil }
        return entries.keys.sorted().randomElement(using: &generator)
    }

    private func value(_ generator: inout Generator) -> PropertyListNode {
        let other = Int(generator.next() % UInt64(objects.count + 1))
        let nodes: [PropertyListNode] = [
            .reference(other), .reference(other), .reference(other), .reference(other), .reference(other), .reference(0), .null,
            .bool(true),
            .integer(.min), .integer(.max), .integer(Int64(generator.next() % 2500)), .integer(-1), .real(.nan), .real(1e300),
            .date(.infinity),
            .string(""), .data([]), .array([]), .dictionary([:]), .reference(.max >> 33), .array([.reference(other)]),
        ]
        return nodes.randomElement(using: &generator) ?? .null
    }
}
