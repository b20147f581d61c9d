import Foundation
import SQLiteDriver
import Testing

@testable import CoreData

@Suite("A Core Data error")
struct CoreDataErrorTests {
    @Test(
        "has the code of what SQLite reported",
        arguments: [
            (5, .persistentStoreTimeout), (517, .persistentStoreTimeout), (6, .persistentStoreTimeout), (26, .fileReadCorruptFile),
            (11, .fileReadCorruptFile), (14, .persistentStoreOpen), (8, .fileWriteNoPermission), (13, .fileWriteOutOfSpace),
            (522, .persistentStoreOperation), (1, .sqlite),
        ] as [(Int32, CocoaError.Code)]
    )
    func sqlite(code: Int32, expected: CocoaError.Code) {
        // A file that is there: of another one the error says that.
        let url = URL(fileURLWithPath: #filePath)
        let error = CocoaError(SQLiteError(extendedCode: code, message: "no luck"), url: url, doing: "save changes")
        #expect(error.code == expected)
        #expect((error as NSError).domain == NSCocoaErrorDomain && (error as NSError).code == expected.rawValue)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == NSSQLiteErrorDomain)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(code))
        #expect((error.userInfo[NSSQLiteErrorDomain] as? NSNumber)?.int32Value == code)
        #expect(error.userInfo[NSFilePathErrorKey] as? String == url.path)
        #expect(error.localizedDescription.contains("save changes in \(url.lastPathComponent): no luck"))
    }

    @Test("keeps the code it is given where SQLite's says nothing more particular")
    func fallback() {
        let error = CocoaError(SQLiteError(extendedCode: 1, message: ""), url: nil, doing: "open", default: .persistentStoreOpen)
        #expect(error.code == .persistentStoreOpen && error.userInfo[NSFilePathErrorKey] == nil)
    }

    @Test("shows what a validation error is about, and can be caught by its code")
    func validation() throws {
        let info: [String: Any] = [NSValidationKeyErrorKey: "name", NSValidationValueErrorKey: 5, NSValidationObjectErrorKey: "object"]
        let thrown: any Error = CocoaError.coreData(.validationStringTooLong, "The name is too long.", userInfo: info)
        do {
            throw thrown
        } catch CocoaError.validationStringTooLong {
            let error = try #require(thrown as? CocoaError)
            #expect(error.validationKey == "name" && error.validationValue as? Int == 5 && error.validationObject as? String == "object")
            #expect(error.errorCode == NSValidationStringTooLongError)
        }
        #expect(CocoaError.coreData.rawValue == 134_060)
    }
}
