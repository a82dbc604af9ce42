import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { SCHEMA } from './fields.ts'

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  Int: Number.isInteger,
  Float: Number.isFinite,
  String: (value) => typeof value === 'string',
  ID: (value) => typeof value === 'string',
  Boolean: (value) => typeof value === 'boolean',
  Void: () => false,
  FlashBootType: (value) => typeof value === 'string',
}

/**
 * The places where the data of an answer differs from the selection of its document: each selected member must exist with its kind, and no
 * other.
 */
export function shapeErrors(document: string, data: unknown): string[] {
  const { definitions } = parse(document)
  return definitions.flatMap((definition) => {
    if (definition.kind !== 'OperationDefinition') throw new Error(`documents of clients have no ${definition.kind}`)
    const root = definition.operation === 'query' ? SCHEMA.getQueryType() : SCHEMA.getMutationType()
    return objectErrors(root as GraphQLObjectType, definition.selectionSet, data, '$')
  })
}

function objectErrors(type: GraphQLObjectType, { selections }: SelectionSetNode, value: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: no object`]
  const rest = new Map<string, unknown>(Object.entries(value))
  const errors = selections.flatMap((selection) => {
    if (selection.kind !== 'Field') throw new Error(`documents of clients have no ${selection.kind}`)
    const name = selection.name.value
    const key = selection.alias?.value ?? name
    const path = `${at}.${key}`
    if (!rest.has(key)) return [`${path}: missing`]
    const member = rest.get(key)
    rest.delete(key)
    if (name === '__typename') return member === type.name ? [] : [`${path}: no ${type.name}`]
    const field = type.getFields()[name]
    return field ? valueErrors(field.type, selection.selectionSet, member, path) : [`${path}: no field of ${type.name}`]
  })
  return [...errors, ...[...rest.keys()].map((key) => `${at}.${key}: not asked for`)]
}

function valueErrors(type: GraphQLOutputType, selection: SelectionSetNode | undefined, value: unknown, at: string): string[] {
  if (isNonNullType(type)) return value === null ? [`${at}: null`] : valueErrors(type.ofType, selection, value, at)
  if (value === null) return []
  if (isListType(type)) {
    const { ofType } = type
    return Array.isArray(value)
      ? value.flatMap((item, index) => valueErrors(ofType, selection, item, `${at}[${index}]`))
      : [`${at}: no list`]
  }
  if (isObjectType(type)) return selection ? objectErrors(type, selection, value, at) : [`${at}: nothing is selected`]
  if (isEnumType(type)) return type.getValues().some(({ name }) => name === value) ? [] : [`${at}: no ${type.name}`]
  const isOfKind = KINDS[type.name] ?? (() => true)
  return isOfKind(value) ? [] : [`${at}: no ${type.name}`]
}
