/// What the programs of Tests/Fixtures/Mac print.
enum MacPrograms {
    static let outputs = [
        (
            "Todos",
            """
            Wash up[], Sweep["quick"], Iron["Dull", "quick"]
            Sweep, Iron, Wash up
            ["Iron: 20"]
            Minutes: 30
            Refused: Sweep takes less than no time
            Chores goes, with 3 to do
            Left: 0 to do, 0 lists

            """
        )
    ]
}
