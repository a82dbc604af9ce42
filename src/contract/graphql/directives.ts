/** Directives of the schema; the plane enforces them. */
export const DIRECTIVES = `"""The field needs no key. Every other field of Query and Mutation needs one."""
directive @public on FIELD_DEFINITION

"""The scope that the field requires. \`boundTo\`: a key that is bound to the resource in this argument is enough."""
directive @scope(name: String!, boundTo: String, enough: String) on FIELD_DEFINITION

"""The field ends a resource: a reserve of requests serves it when the caller has used up a window."""
directive @ends on FIELD_DEFINITION

"""Cost of the field, in units of one plain value."""
directive @cost(weight: Int!) on FIELD_DEFINITION

"""Number of items that the cost of a list assumes."""
directive @listSize(assumedSize: Int!) on FIELD_DEFINITION

"""No value; always null."""
scalar Void

"""Any JSON value."""
scalar JSON

"""OFF, FLASHBOOT or PRIORITY_FLASHBOOT; an empty string means not set."""
scalar FlashBootType
`
