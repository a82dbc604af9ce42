import { useDebounced } from '../hooks/debounced.ts'
import { useUrlState } from '../hooks/url-state.ts'
import { SelectField, TextField } from './form/field.tsx'

/** Rows of a page of a list. */
export const PAGE = 50

/** Search, order and position of a list. */
export interface ListFilter {
  name: string
  sort: string
  /** Position of the shown page; empty: the first. */
  cursor: string
  go: (cursor: string) => void
  set: { name: (name: string) => void; sort: (sort: string) => void }
  /** Query of the list: the order, and the name once typing pauses. */
  query: Readonly<Record<string, string>>
  isSearch: boolean
}

/** Search and order of a list, which the plane applies (PAG-20, PAG-21); all of it is stored in the address. */
export function useListFilter(prefix = ''): ListFilter {
  const position = `${prefix}cursor`
  const [name, setName] = useUrlState(`${prefix}name`, '', { isTyped: true, resets: position })
  const [sort, setSort] = useUrlState(`${prefix}sort`, 'newest', { resets: position })
  const [cursor, go] = useUrlState(position, '')
  const sought = useDebounced(name)
  return { name, sort, cursor, go, set: { name: setName, sort: setSort }, query: given({ name: sought, sort }), isSearch: sought !== '' }
}

/** Fields of a list's search and order. */
export function ListFields({ of: { name, sort, set } }: { of: ListFilter }) {
  return (
    <>
      <TextField label="Name contains" type="search" value={name} onChange={({ target }) => set.name(target.value)} />
      <SelectField label="Order" value={sort} onChange={({ target }) => set.sort(target.value)}>
        <option value="newest">Newest first</option>
        <option value="oldest">Oldest first</option>
        <option value="name">By name</option>
      </SelectField>
    </>
  )
}

/** Search above a list that has no other filter; `total` is the size of the whole list. */
export function ListSearch({ of, total }: { of: ListFilter; total?: string | undefined }) {
  return (
    <search className="flex max-w-3xl flex-wrap items-end gap-3">
      <ListFields of={of} />
      {total !== undefined && <p className="text-soft min-h-8.5 py-1.5">{total}</p>}
    </search>
  )
}

/** Drops empty values, so that they are not sent. */
export function given(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}

/** Name of a group with its size, once that is known. */
export function withCount(name: string, count: number | undefined): string {
  return count === undefined ? name : `${name} (${count.toLocaleString('en-US')})`
}
