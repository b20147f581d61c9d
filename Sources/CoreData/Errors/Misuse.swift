/// Stops the program for a mistake in it, with a sentence that names the mistake and the cure; in release builds too.
///
/// What the world outside can cause is thrown instead, as a `CocoaError`.
func misuse(_ sentence: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(sentence, file: file, line: line)
}
