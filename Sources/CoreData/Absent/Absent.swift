/// The body of what is declared only so that the compiler can say what to do instead of it. Nobody can call that.
func absent() -> Never { misuse("This is not there.") }
