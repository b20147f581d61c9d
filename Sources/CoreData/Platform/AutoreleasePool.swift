/// Calls `body`: without Objective-C nothing is released later than its last use, so there is no pool to drain.
@inlinable public func autoreleasepool<Failure: Error, Result: ~Copyable>(invoking body: () throws(Failure) -> Result) throws(Failure)
    -> Result
{
    try body()
}
