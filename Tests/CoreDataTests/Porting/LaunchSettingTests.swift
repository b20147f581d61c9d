import Testing

@testable import CoreData

@Suite("A setting that the program is started with")
struct LaunchSettingTests {
    @Test("is the argument's, else the variable's")
    func order() {
        let arguments = ["program", "-com.apple.CoreData.SQLDebug", "3"]
        let variable = ["COREDATA_SQLDEBUG": "1"]
        #expect(LaunchSetting.value("SQLDebug", arguments: arguments, environment: variable) == "3")
        #expect(LaunchSetting.value("SQLDebug", arguments: ["program"], environment: variable) == "1")
        #expect(LaunchSetting.value("SQLDebug", arguments: ["program", "-com.apple.CoreData.SQLDebug"], environment: variable) == "1")
        #expect(LaunchSetting.value("SQLDebug", arguments: [], environment: [:]) == nil)
    }
}
