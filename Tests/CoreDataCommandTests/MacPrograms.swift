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
        ),
        (
            "Recipes",
            """
            saved: [8] inserted: ["0.0", "1.0"]
            sections: ["A: 1", "S: 1"]
            name
            Apple cake
            Apple cake
            Apple cake
            Apple cake
            Apple cake, Soup
            Apple cake
            Apple cake
            Soup
            61 ["Wash", "Peel", "Bake"] 0.5 ["a", "b"]
            1
            true
            A recipe without steps is not that good
            left: 2 entries, 1 step

            """
        ),
    ]
}
