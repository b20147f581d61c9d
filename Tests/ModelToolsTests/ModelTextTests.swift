import ModelFormat
import ModelTools
import Testing

@Suite("A model printed to read")
struct ModelTextTests {
    @Test("says of an index what is not usual: descending, by range, an expression, a condition")
    func indexes() {
        var entity = Model.Entity()
        entity.name = "Hive"
        entity.uniquenessConstraints = [["apiary", "number"]]
        entity.indexes = [
            index("byDate", [element("date", isAscending: false), element("number")]),
            index("byPlace", [element("latitude", collation: .rTree)]),
            index("byWeight", [element(expression: .text("weight * 2"))], condition: .format("weight > 0")),
        ]
        var model = Model()
        model.entities = [entity]
        #expect(
            text(of: model) == """
                entity Hive
                  unique (apiary, number)
                  index byDate (date descending, number)
                  index byPlace (latitude by range)
                  index byWeight (weight * 2) where weight > 0

                """
        )
    }

    private func index(_ name: String, _ elements: [Model.FetchIndex.Element], condition: Model.Predicate? = nil) -> Model.FetchIndex {
        var index = Model.FetchIndex()
        index.name = name
        index.elements = elements
        index.partialPredicate = condition
        return index
    }

    private func element(
        _ property: String? = nil,
        expression: Model.Expression? = nil,
        isAscending: Bool = true,
        collation: Model.FetchIndex.Collation = .binary
    ) -> Model.FetchIndex.Element {
        var element = Model.FetchIndex.Element()
        element.property = property
        element.expression = expression
        element.isAscending = isAscending
        element.collation = collation
        return element
    }
}
