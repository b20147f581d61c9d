import Foundation

/// Conditions.
extension RandomRequests {
    mutating func condition(_ entity: Int, depth: Int, _ dice: inout Dice) -> Condition {
        if depth == 0 { return atom(entity, &dice) }
        let parts = (0..<dice.pick([1, 2, 2, 3])).map { _ in condition(entity, depth: depth - 1, &dice) }
        switch Int.random(in: 0..<7, using: &dice) {
        case 0, 1, 2:
            note("AND")
            return .and(parts)
        case 3, 4:
            note("OR")
            return .or(parts)
        case 5:
            note("NOT")
            return .not(parts[0])
        default: return dice.chance(8) ? .always(dice.chance(2)) : parts[0]
        }
    }

    private mutating func atom(_ entity: Int, _ dice: inout Dice) -> Condition {
        let (outer, start) = (entity, start(entity, &dice))
        let (entity, variable) = (start.entity, start.variable)
        switch Int.random(in: 0..<18, using: &dice) {
        case 0, 1, 2, 3: return comparison(entity, variable, &dice)
        case 4: return twoPaths(entity, variable, outer, &dice)
        case 5: return text(entity, variable, &dice)
        case 6:
            note("IN a list")
            let (path, type) = attribute(entity, variable, &dice)
            let count = dice.chance(20) ? 150 : Int.random(in: 0...4, using: &dice)
            return .among(.path(path), (0..<count).map { _ in constant(type, &dice) }, type == .text ? options(&dice) : "")
        case 7:
            note("BETWEEN")
            let (path, type) = attribute(entity, variable, &dice)
            return .between(.path(path), constant(type, &dice), constant(type, &dice))
        case 8, 9: return quantified(entity, variable, &dice)
        case 10: return counted(entity, variable, &dice)
        case 11: return aggregate(entity, variable, &dice)
        case 12, 13: return subquery(entity, variable, outer, &dice)
        case 14: return arithmetic(entity, variable, &dice)
        case 15: return object(entity, variable, outer, &dice)
        case 16: return membership(entity, variable, outer, &dice)
        default:
            note("entity.name")
            let path = PlainPath(variable: variable, relations: walk(entity, &dice).relations)
            return .entityName(path, dice.pick(["==", "!=", "BEGINSWITH"]), dice.pick(["E0", "E1", "Sub", "E"]))
        }
    }

    private mutating func comparison(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> Condition {
        let (path, type) = attribute(entity, variable, &dice)
        let symbol = dice.pick(["==", "!=", "<", "<=", ">", ">="])
        note("comparison")
        let options = type == .text && dice.chance(2) ? options(&dice) : ""
        let sides = [Term.path(path), .constant(constant(type, &dice))]
        return dice.chance(5) ? .compare(sides[1], symbol, sides[0], options) : .compare(sides[0], symbol, sides[1], options)
    }

    private mutating func twoPaths(_ entity: Int, _ variable: String?, _ outer: Int, _ dice: inout Dice) -> Condition {
        note(variable == nil ? "comparison of two paths" : "comparison with the outer object")
        let (left, _) = attribute(entity, variable, &dice)
        let (right, _) = attribute(outer, nil, &dice)
        return .compare(.path(left), dice.pick(["==", "!=", "<", ">="]), .path(right), "")
    }

    private mutating func text(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> Condition {
        var (path, type) = attribute(entity, variable, &dice)
        for _ in 0..<5 where type != .text { (path, type) = attribute(entity, variable, &dice) }
        let symbol = dice.pick(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"])
        note(symbol)
        let patterns = symbol == "LIKE" ? ["a*", "*b", "?", "", "*", "a?", "ä*"] : ["", "a", "A", "b", "ä", "file", "e", "é", "ss"]
        return .compare(.path(path), symbol, .constant(.text(dice.pick(patterns))), options(&dice))
    }

    private mutating func quantified(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> Condition {
        guard let (path, type) = memberAttribute(entity, variable, &dice) else { return comparison(entity, variable, &dice) }
        let quantifier = dice.pick([Condition.Quantifier.any, .any, .all, .none])
        note(quantifier.rawValue)
        let symbols = ["==", "!=", "<", ">="] + (type == .text ? ["CONTAINS", "BEGINSWITH"] : [])
        return .quantified(quantifier, path, dice.pick(symbols), constant(type, &dice), type == .text ? options(&dice) : "")
    }

    private mutating func counted(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> Condition {
        guard let path = members(entity, variable, &dice) else { return comparison(entity, variable, &dice) }
        guard path.relations.last?.isToMany == true else { return comparison(entity, variable, &dice) }
        note("@count")
        return .compare(.count(path), dice.pick(["==", "!=", ">", "<="]), .constant(.integer(dice.pick([0, 1, 2, 3]))), "")
    }

    private mutating func aggregate(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> Condition {
        guard let (path, type) = memberAttribute(entity, variable, &dice), type != .flag else { return comparison(entity, variable, &dice) }
        let name = dice.pick(type.isNumber ? ["@min", "@max", "@sum", "@avg"] : ["@min", "@max"])
        note(name)
        let value = constant(type, &dice)
        return .compare(.aggregate(name, path), dice.pick(["==", "!=", ">", "<="]), .constant(value), "")
    }

    private mutating func subquery(_ entity: Int, _ variable: String?, _ outer: Int, _ dice: inout Dice) -> Condition {
        guard variables.count < 2, let path = members(entity, variable, &dice), path.relations.last?.isToMany == true else {
            return comparison(entity, variable, &dice)
        }
        note(variables.isEmpty ? "SUBQUERY" : "SUBQUERY in SUBQUERY")
        let name = "v\(variables.count)"
        variables.append((name, end(of: path, entity)))
        let inner = condition(outer, depth: dice.pick([0, 0, 1]), &dice)
        variables.removeLast()
        let count = Term.constant(.integer(dice.pick([0, 1, 2])))
        return .compare(.subquery(path, variable: name, inner), dice.pick(["==", ">", "<=", "!="]), count, "")
    }

    private mutating func arithmetic(_ entity: Int, _ variable: String?, _ dice: inout Dice) -> Condition {
        note("arithmetic")
        let terms = (0..<2).map { _ in
            let (path, type) = attribute(entity, variable, &dice)
            return type.isNumber && !dice.chance(4)
                ? Term.path(path) : .constant(dice.pick([0, 1, 2, 3].map(Plain.integer) + [.real(0.5)]))
        }
        let sum = Term.arithmetic(dice.pick(["+", "-", "*", "/", "%"]), terms[0], terms[1])
        return .compare(sum, dice.pick(["==", "!=", "<", ">="]), .constant(constant(.integer64, &dice)), "")
    }

    private mutating func object(_ entity: Int, _ variable: String?, _ outer: Int, _ dice: inout Dice) -> Condition {
        note("object")
        let path = PlainPath(variable: variable, relations: walk(entity, &dice).relations)
        switch Int.random(in: 0..<5, using: &dice) {
        case 0: return .isObject(path, nil, isNegated: dice.chance(2))
        case 1, 2: return .isObject(path, dice.pick(numbers), isNegated: dice.chance(3))
        case 3: return .isAnyOf(path, (0..<dice.pick([0, 1, 5])).map { _ in dice.pick(numbers) })
        default: return .isSameObject(path, PlainPath(relations: walk(outer, &dice).relations))
        }
    }

    private mutating func membership(_ entity: Int, _ variable: String?, _ outer: Int, _ dice: inout Dice) -> Condition {
        guard let path = members(entity, variable, &dice) else { return object(entity, variable, outer, &dice) }
        note("membership")
        if dice.chance(2), path.relations.last?.isToMany == true {
            return dice.chance(2)
                ? .isMember(path, dice.pick(numbers)) : .hasMember(dice.pick([.any, .all, .none]), path, dice.pick(numbers))
        }
        guard let (path, type) = memberAttribute(entity, variable, &dice) else { return object(entity, variable, outer, &dice) }
        var value = constant(type, &dice)
        if value == .null { value = type.values[0] }
        if dice.chance(2) { return .contains(path, value) }
        return .amongMembers(dice.chance(2) ? .constant(value) : .path(attribute(entity, variable, &dice).0), path)
    }

    private func constant(_ type: PlainType, _ dice: inout Dice) -> Plain {
        if dice.chance(12) { return .null }
        // A value of another kind than a property's is refused, with an error.
        return type.isNumber && dice.chance(12) ? dice.pick([.integer(1), .real(0.5)]) : dice.pick(type.values)
    }

    private func options(_ dice: inout Dice) -> String { dice.pick(["", "", "c", "d", "cd"]) }
}
