import ModelFormat

/// A fetch request that a model keeps: under a name, or for a fetched property. Requests are of a layer above, which makes them of this.
enum FetchTemplate {
    /// As a model file describes it.
    case described(Model.FetchRequest)
    /// As a program has set it: a request that nobody else has.
    case request(NSObject)
}
