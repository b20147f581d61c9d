/// The version of this package, which `coredata --version` prints. docs/CHANGELOG.md says what is in it.
package let packageVersion = "0.1.0"
