import Foundation

/// What whoever starts the program says about it: `-com.apple.CoreData.SQLDebug 1` as arguments, or the variable `COREDATA_SQLDEBUG`, which
/// reaches tests too.
enum LaunchSetting {
    /// The value of a setting, the argument's before the variable's; nil where neither is there.
    static func value(
        _ name: String,
        arguments: [String] = CommandLine.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        let position = arguments.firstIndex(of: "-com.apple.CoreData.\(name)")
        return position.flatMap { arguments.dropFirst($0 + 1).first } ?? environment["COREDATA_\(name.uppercased())"]
    }
}
