#if Browser
    import FlyingFox
    import Foundation
    import ModelTools

    /// Serves the page about a store and the answers to its questions, to this machine and to whoever knows the token.
    struct BrowseServer: Sendable {
        private let browser: StoreBrowser
        private let token: String

        init(_ browser: StoreBrowser) {
            self.browser = browser
            // The system's generator, which nobody can foresee.
            token = (0..<16).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()
        }

        /// Serves until it is stopped by a signal.
        ///
        /// - Parameter isReady: told the address of the page, once it can be reached.
        /// - Throws: where the port is somebody else's, and what `isReady` throws.
        func run(port: UInt16, isReady: (String) throws -> Void) async throws {
            let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
            await server.appendRoute("*") { request in await respond(to: request) }
            let signals = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { Task { await server.stop() } }
                source.resume()
                return source
            }
            defer { signals.forEach { $0.cancel() } }
            try await serve(server, port, isReady)
            await browser.close()
        }

        private func serve(_ server: HTTPServer, _ port: UInt16, _ isReady: (String) throws -> Void) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                group.addTask { try await server.waitUntilListening() }
                do {
                    // The first to end is the one that waits, or the server for which there is no port.
                    try await group.next()
                } catch {
                    throw Failure("Port \(port) of 127.0.0.1 cannot be used: \(error.localizedDescription)")
                }
                if case .ip4(_, let port)? = await server.listeningAddress { try isReady("http://127.0.0.1:\(port)/\(token)/") }
                // A server that was stopped ends with an error, which is none.
                _ = try? await group.next()
            }
        }

        private func respond(to request: HTTPRequest) async -> HTTPResponse {
            let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            // NB: a page elsewhere whose name leads to this machine sends its own name.
            guard parts.first.map(String.init) == token, isLocal(request.headers[.host]) else {
                return Self.response(404, "text/plain", "There is nothing here.\n")
            }
            guard request.method == .GET else { return Self.response(405, "text/plain", "This is only read.\n") }
            let parameters = Dictionary(request.query.map { ($0.name, $0.value) }) { _, last in last }
            return await answer(Array(parts.dropFirst().map(String.init)), parameters)
        }

        private func isLocal(_ host: String?) -> Bool {
            let name = host?.split(separator: ":").first.map(String.init)
            return name == "127.0.0.1" || name == "localhost"
        }

        private func answer(_ path: [String], _ parameters: [String: String]) async -> HTTPResponse {
            switch (path.first ?? "", path.count) {
            // NB: the slash at the end of the address may be missing.
            case ("", 0...1): return Self.response(200, "text/html", String(decoding: PackageResources.Page_html, as: UTF8.self))
            case ("model.svg", 1): return Self.response(200, "image/svg+xml", await browser.picture())
            case ("api", 2): return await json(path[1], parameters)
            default: return Self.response(404, "text/plain", "There is nothing here.\n")
            }
        }

        private func json(_ question: String, _ parameters: [String: String]) async -> HTTPResponse {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                let text = String(decoding: try encoder.encode(try await browser.answer(question, parameters)), as: UTF8.self)
                return Self.response(200, "application/json", text)
            } catch {
                let said = (error as? BrowserError)?.description ?? sentence(for: error)
                let text = String(decoding: (try? encoder.encode(["error": said])) ?? Data("{}".utf8), as: UTF8.self)
                return Self.response((error as? BrowserError)?.status ?? 400, "application/json", text)
            }
        }

        private static func response(_ status: Int, _ type: String, _ text: String) -> HTTPResponse {
            HTTPResponse(statusCode: HTTPStatusCode(status, phrase: phrases[status] ?? ""), headers: headers(type), body: Data(text.utf8))
        }

        private static let phrases = [200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"]

        /// Nothing from elsewhere is loaded, nobody shows the page in theirs, and no address with the token is told to others.
        private static func headers(_ type: String) -> HTTPHeaders {
            [
                .contentType: "\(type); charset=utf-8",
                HTTPHeader("Content-Security-Policy"):
                    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self'; connect-src 'self'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                HTTPHeader("X-Content-Type-Options"): "nosniff", HTTPHeader("Referrer-Policy"): "no-referrer",
                HTTPHeader("Cache-Control"): "no-store",
            ]
        }
    }
#endif
