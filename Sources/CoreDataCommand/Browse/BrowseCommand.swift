import ArgumentParser
import CoreData
import Foundation
import ModelTools

struct BrowseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Shows a store on a page in a browser, until it is interrupted. Nothing in the store is changed.",
        discussion: """
            Entities, objects with sorting and a filter by predicate, relationships to follow, the drawn model, and the history if there is \
            one. The page is for this machine only, and for those who know its address, which has a random part. The model is the one that the \
            store carries, or that of --model.
            """
    )

    @OptionGroup var source: StoreArgument
    @OptionGroup var wanted: StoreModelOptions
    @Option(help: "The port; otherwise any that is free.") var port: UInt16 = 0

    func run() async throws {
        #if Browser
            let server = BrowseServer(try browser())
            try await server.run(port: port) { address in
                print(address)
                // Whoever waits for the address has no other sign.
                try flushPrinted()
            }
        #else
            throw Failure("This coredata was built without its page: build it with the trait Browser.")
        #endif
    }

    private func browser() throws -> StoreBrowser {
        let inspector = try self.source.inspector(isAlone: false)
        let (model, source) = (try wanted.model(of: inspector), try wanted.source(of: inspector))
        return try StoreBrowser(inspector, model: model, source: source)
    }
}
