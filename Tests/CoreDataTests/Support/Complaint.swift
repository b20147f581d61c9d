import Testing

/// What a process that an exit test has started wrote before it ended.
func complaint(_ result: ExitTest.Result?) -> String { String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) }
