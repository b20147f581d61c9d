import UIKit

/// Nothing for Linux: the target's .coredata.json leaves it out.
final class BoxView: UIView {
    @objc func tapped() {}
}
