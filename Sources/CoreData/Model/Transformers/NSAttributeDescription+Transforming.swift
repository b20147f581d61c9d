import Foundation
import ModelFormat

/// The values of a transformable attribute and the data that stores keep for them.
extension NSAttributeDescription {
    /// How values become data.
    private enum Coding {
        /// As keyed archives with objects of some classes; of any class for nil.
        case archive([AnyClass]?)
        case transformer(ValueTransformer)
        /// By a transformer that makes values of data.
        case reverse(ValueTransformer)
    }

    private var coding: Coding {
        get throws {
            let name = NSValueTransformerName(valueTransformerName ?? "")
            guard !name.rawValue.isEmpty else { return .archive(nil) }
            guard let transformer = ValueTransformer.named(name) else {
                throw CocoaError.coreData(
                    .coreData,
                    "No transformer is known as “\(name.rawValue)”: call ValueTransformer.setValueTransformer(_:forName:) first."
                )
            }
            if transformer is UnarchivingTransformer { return .archive(nil) }
            guard let unarchiver = transformer as? NSSecureUnarchiveFromDataTransformer else { return .transformer(transformer) }
            let isPlain = Swift.type(of: unarchiver) == NSSecureUnarchiveFromDataTransformer.self
            return isPlain ? .archive(NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses) : .reverse(unarchiver)
        }
    }

    /// The data that stands for a value.
    ///
    /// - Throws: why there is none: no such transformer, or none that takes the value.
    func data(for value: Any) throws -> Data {
        let data =
            switch try coding {
            case .archive: try ObjectArchiver.data(of: value)
            case .transformer(let transformer): transformer.transformedValue(value)
            case .reverse(let transformer): transformer.reverseTransformedValue(value)
            }
        if let data = data as? Data { return data }
        throw CocoaError.coreData(.coreData, "Its transformer makes no data of a \(Swift.type(of: value)).")
    }

    /// The value for which data stands.
    ///
    /// - Throws: why there is none.
    func value(for data: Data) throws -> Any {
        let value: Any? =
            switch try coding {
            case .archive(let classes): try ObjectUnarchiver.object(in: data, allowed: classes)
            case .transformer(let transformer): transformer.reverseTransformedValue(data)
            case .reverse(let transformer): transformer.transformedValue(data)
            }
        if let value { return value }
        throw CocoaError.coreData(.coreData, "Its transformer makes nothing of \(data.count) bytes in the store.")
    }
}
