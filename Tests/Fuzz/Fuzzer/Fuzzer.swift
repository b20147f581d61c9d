import Foundation
import ModelReaders

/// The reader under test: `FUZZ` names it.
// The fuzzer calls on one thread.
nonisolated(unsafe) let reader: ModelReader = {
    let name = ProcessInfo.processInfo.environment["FUZZ"] ?? ""
    guard let kind = ModelReader.Kind(rawValue: name) else {
        fatalError("FUZZ=\(name): say one of \(ModelReader.Kind.allCases.map(\.rawValue))")
    }
    do { return try ModelReader(kind) } catch { fatalError("\(error)") }
}()

/// -1 keeps an input out of the corpus, 0 lets the fuzzer decide.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    // The fuzzer's bytes are its own: a copy is read.
    _ = reader.accepts(Data(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
