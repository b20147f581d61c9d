import CShims
import Foundation
import ModelTools

/// Standard output for what may be long: many lines are written at once, and a failure is an error at once.
struct Output {
    private var data = Data()

    mutating func write(_ text: String) throws {
        data.append(contentsOf: text.utf8)
        if data.count > 65_536 { try flush() }
    }

    mutating func flush() throws {
        var rest = data[...]
        while !rest.isEmpty {
            // The pointer is used in the scope of the call only.
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw cannotWrite(errno) }
            rest = rest.dropFirst(max(count, 0))
        }
        data.removeAll(keepingCapacity: true)
    }
}

/// Writes out what `print` has kept back.
///
/// - Throws: `Failure` where that, or an earlier part of it, could not be written: `print` says nothing.
func flushPrinted() throws {
    let code = cd_flushStandardOutput()
    if code != 0 { throw cannotWrite(code) }
}

/// Nobody reads what is printed, nor wants to: the status alone says so, which is that of a program that the signal has ended.
struct ClosedPipe: Error {}

private func cannotWrite(_ code: Int32) -> any Error {
    code == EPIPE ? ClosedPipe() : Failure("Standard output cannot be written: \(String(cString: strerror(code))).")
}
