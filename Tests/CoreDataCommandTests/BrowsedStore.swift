import Foundation
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A running `coredata browse`, and what its page would ask.
final class BrowsedStore: Sendable {
    let address: URL
    private let process: Process

    /// - Throws: where the command has not said its address.
    init(_ arguments: String...) async throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Places.products.appendingPathComponent("coredata")
        process.arguments = ["browse"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        self.process = process
        let said = await withCheckedContinuation { (said: CheckedContinuation<String, Never>) in
            DispatchQueue.global().async {
                said.resume(returning: String(decoding: output.fileHandleForReading.availableData, as: UTF8.self))
            }
        }
        guard let address = URL(string: said.trimmingCharacters(in: .newlines)), address.host != nil else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSLocalizedDescriptionKey: "It said \(said)."])
        }
        self.address = address
    }

    deinit { if process.isRunning { process.terminate() } }

    struct Answer {
        let status: Int
        let type: String
        let text: String

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:] }
        /// A list of objects in it.
        func list(_ name: String) -> [[String: Any]] { json[name] as? [[String: Any]] ?? [] }
    }

    /// The answer at a place below the address.
    func get(_ path: String, _ parameters: [String: String] = [:], method: String = "GET", host: String? = nil) async throws -> Answer {
        var place = URLComponents(url: address.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        if !parameters.isEmpty { place?.queryItems = parameters.map { URLQueryItem(name: $0.key, value: $0.value) } }
        return try await get(place?.url ?? address, method: method, host: host)
    }

    func get(_ url: URL, method: String = "GET", host: String? = nil) async throws -> Answer {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let host { request.setValue(host, forHTTPHeaderField: "Host") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = response as? HTTPURLResponse
        return Answer(
            status: http?.statusCode ?? 0,
            type: http?.value(forHTTPHeaderField: "Content-Type") ?? "",
            text: String(decoding: data, as: UTF8.self)
        )
    }

    /// Ends the command as Control-C does; answers its status.
    func interrupt() async -> Int32 {
        await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
            process.terminationHandler = { _ in end.resume() }
            process.interrupt()
        }
        return process.terminationStatus
    }
}
