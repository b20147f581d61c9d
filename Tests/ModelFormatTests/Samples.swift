/// A source with every element and attribute that there is, and some that there are not.
let everything = #"""
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" systemVersion="23E224" \#
    minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithCloudKit="false" usedWithSwiftData="YES" \#
    userDefinedModelVersionIdentifier="v1" future="1">
        <entity name="Base" representedClassName=".Base" isAbstract="YES" syncable="YES" codeGenerationType="category" \#
    elementID="Old" versionHashModifier="m" spotlightIndexingEnabled="YES" coreSpotlightDisplayNameExpression="name">
            <attribute name="small" attributeType="Integer 16" defaultValueString="-1" minValueString="-5" maxValueString="5" \#
    usesScalarValueType="YES"/>
            <attribute name="medium" optional="YES" attributeType="Integer 32" defaultValueString="7" indexed="YES"/>
            <attribute name="large" optional="YES" attributeType="Integer 64" elementID="big" versionHashModifier="2"/>
            <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="12.50"/>
            <attribute name="ratio" optional="YES" attributeType="Double" defaultValueString="0.5" minValueString="0" maxValueString="1.5"/>
            <attribute name="share" optional="YES" attributeType="Float" defaultValueString="0.0" usesScalarValueType="NO"/>
            <attribute name="name" attributeType="String" defaultValueString="" minValueString="1" maxValueString="20" \#
    regularExpressionString="[a-z&amp;&lt;]+" spotlightIndexingEnabled="YES" allowsCloudEncryption="YES">
                <userInfo>
                    <entry key="a" value="line&#10;break &quot;é&quot;"/>
                    <entry key="b" value=""/>
                </userInfo>
            </attribute>
            <attribute name="isOn" attributeType="Boolean" defaultValueString="YES"/>
            <attribute name="date" attributeType="Date" defaultDateTimeInterval="708103500" defaultValueString="now" \#
    minDateTimeInterval="-3600.5" maxDateTimeInterval="407847600" maxValueString="12/4/2013"/>
            <attribute name="data" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES"/>
            <attribute name="id" attributeType="UUID" defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F"/>
            <attribute name="noID" attributeType="UUID" defaultValueString=""/>
            <attribute name="link" optional="YES" attributeType="URI" defaultValueString="https://a.b/c?d=1&amp;e" storedInTruthFile="YES"/>
            <attribute name="color" optional="YES" attributeType="Transformable" valueTransformerName="ColorTransformer" \#
    customClassName="Color" syncable="NO"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            <attribute name="computed" optional="YES" transient="YES"/>
            <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="parts.@count"/>
            <relationship name="parts" optional="YES" toMany="YES" minCount="2" maxCount="20" deletionRule="Cascade" ordered="YES" \#
    destinationEntity="Sub" inverseName="whole" inverseEntity="Sub" syncable="YES" elementID="pieces" versionHashModifier="r"/>
            <relationship name="one" maxCount="1" deletionRule="Deny" destinationEntity="Base" transient="YES" indexed="YES"/>
            <relationship name="loose" optional="YES" toMany="YES" deletionRule="No Action"/>
            <fetchedProperty name="cheap" optional="YES" syncable="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Sub" predicateString="price &lt; $FETCH_SOURCE.price"/>
                <userInfo>
                    <entry key="k" value="v"/>
                </userInfo>
            </fetchedProperty>
            <fetchIndex name="byName" partialIndexPredicate="small &gt; 0">
                <fetchIndexElement property="name" type="Binary" order="ascending"/>
                <fetchIndexElement property="large" type="Binary" order="descending"/>
                <fetchIndexElement expression="ratio * 2" expressionType="Double" type="RTree" order="ascending"/>
            </fetchIndex>
            <compoundIndexes>
                <compoundIndex>
                    <index value="small"/>
                    <index value="large"/>
                </compoundIndex>
            </compoundIndexes>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="id"/>
                </uniquenessConstraint>
                <uniquenessConstraint>
                    <constraint value="name"/>
                    <constraint value="date"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
            <userInfo>
                <entry key="e" value="f"/>
            </userInfo>
            <unheardOf of="it">
                <inner>some text</inner>
            </unheardOf>
        </entity>
        <entity name="Sub" representedClassName="Sub" parentEntity="Base" codeGenerationType="class" later="x">
            <relationship name="whole" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Base" inverseName="parts" \#
    inverseEntity="Base"/>
        </entity>
        <entity name="Plain"/>
        <composite name="Place">
            <attribute name="x" attributeType="Double" defaultValueString="0.0" usesScalarValueType="YES"/>
            <attribute name="inner" optional="YES" attributeType="Composite" composite="Inner"/>
        </composite>
        <composite name="Inner">
            <attribute name="y" optional="YES" attributeType="String" whatever="z"/>
        </composite>
        <configuration name="Local" usedWithCloudKit="YES">
            <memberEntity name="Base"/>
            <memberEntity name="Sub"/>
        </configuration>
        <fetchRequest name="all" entity="Base"/>
        <fetchRequest name="some" entity="Sub" predicateString="name LIKE &quot;D*&quot; AND small == $SMALL" resultType="1" fetchLimit="220" \#
    fetchBatchSize="20" includeSubentities="YES" includePropertyValues="NO" includesPendingChanges="YES" returnObjectsAsFaults="YES" \#
    returnDistinctResults="YES"/>
        <elements>
            <element name="Base" positionX="-63" positionY="-18" width="128" height="90"/>
            <element name="Sub" positionX="0" positionY="0.5" width="128" height="44"/>
        </elements>
    </model>
    """#
