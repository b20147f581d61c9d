import Foundation
import PackagePlugin

/// What the file `.coredata.json` in a target's folder says about the classes of the target's models.
struct PluginOptions: Decodable {
    /// `xcode` or `swift`: the types of properties.
    private var style: String?
    /// `public` or `internal`.
    private var access: String?

    /// - Throws: an error with the file's path, if there is one that cannot be used.
    init(of module: any SourceModuleTarget) throws {
        let file = module.directoryURL.appending(path: ".coredata.json")
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
        } catch {
            throw Unusable(description: "\(file.path) is no JSON object of the keys style and access: \(error)")
        }
        guard ["xcode", "swift", nil].contains(style), ["public", "internal", nil].contains(access) else {
            throw Unusable(description: "\(file.path): style is xcode or swift, access is public or internal")
        }
    }

    var arguments: [String] { (style.map { ["--style", $0] } ?? []) + (access == "internal" ? [] : ["--public"]) }

    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }
}
