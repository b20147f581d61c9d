import Foundation

/// Where the package and its products are.
public enum Places {
    public static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folder that the build puts programs and modules in, beside the tests.
    public static let products: URL = {
        let tests = CommandLine.arguments.map { URL(fileURLWithPath: $0) }.first { $0.path.hasSuffix(".xctest") }
        return (tests ?? Bundle.main.bundleURL).deletingLastPathComponent()
    }()
}
