import type { ReactNode } from 'react'
import { type ItemOf, nextOf, type Paged, pageOf } from '../../client/page.ts'
import type { Live } from '../hooks/live.ts'
import { useUrlState } from '../hooks/url-state.ts'
import { PAGE } from './list-filter.tsx'
import { Pages } from './more.tsx'
import { Empty, type EmptyProps, ViewState } from './view-state.tsx'

/** A column of a table; numbers are aligned to the right. */
export interface Column<Row> {
  title: string
  /** Left out on narrow screens. */
  isMinor?: boolean
  isNumber?: boolean
  show: (row: Row) => ReactNode
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

/** Shows rows in a table that scrolls sideways on narrow screens. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const place = ({ isMinor, isNumber }: Column<Row>) =>
    `px-3 py-2 ${isMinor ? 'hidden md:table-cell' : ''} ${isNumber ? 'text-right tabular-nums' : 'text-left'}`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="border-line bg-panel relative overflow-x-auto rounded-lg border" aria-label={caption} tabIndex={0}>
      <table className="w-full border-collapse">
        <caption className="sr-only">{caption}</caption>
        <thead className="bg-raised text-soft text-xs">
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={`${place(column)} font-medium`}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-line border-t align-middle">
              {columns.map((column) => (
                <td key={column.title} className={place(column)}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface LiveTableProps<Data, Row> extends Omit<TableProps<Row>, 'rows'> {
  of: Live<Data>
  rows: (data: Data) => readonly Row[]
  /** Content for a list without rows. */
  empty: EmptyProps
  /** Whether the list counts as one without rows; by default if there is none. */
  isEmpty?: (data: Data) => boolean
  /** Name of the position in the address, where a page has several lists. */
  position?: string
}

/** Table of a complete list that is read from the plane, in any of its states (UI-7), 50 rows at a time (UI-80). */
export function LiveTable<Data, Row>({ of, rows, empty, isEmpty, position = 'from', ...table }: LiveTableProps<Data, Row>) {
  const [from, setFrom] = useUrlState(position, '')
  return (
    <ViewState of={of} empty={{ when: isEmpty ?? ((data) => rows(data).length === 0), show: <Empty {...empty} /> }}>
      {(data) => {
        const all = rows(data)
        // A list may have become shorter than the address says.
        const first = Math.min(Number(from) || 0, Math.max(0, all.length - 1))
        const next = first + PAGE < all.length ? String(first + PAGE) : null
        return (
          <>
            <Table {...table} rows={all.slice(first, first + PAGE)} />
            <Pages cursor={first === 0 ? '' : from} next={next} go={setFrom} />
          </>
        )
      }}
    </ViewState>
  )
}

interface PagedTableProps<Answer extends Paged> extends Omit<TableProps<ItemOf<Answer>>, 'rows'> {
  of: Live<Answer>
  /** Content for a list without rows. */
  empty: EmptyProps
  /** Position of the shown page; empty: the first. */
  cursor: string
  go: (cursor: string) => void
}

/** Table of one page of a list, with the way to the next one (UI-80). */
export function PagedTable<Answer extends Paged>({ of, empty, cursor, go, ...table }: PagedTableProps<Answer>) {
  const isEmpty = (answer: Answer) => pageOf(answer).items.length === 0 && nextOf(answer) === null && cursor === ''
  return (
    <ViewState of={of} empty={{ when: isEmpty, show: <Empty {...empty} /> }}>
      {(answer) => {
        const { items, next } = pageOf(answer)
        return (
          <>
            <Table {...table} rows={items} />
            <Pages cursor={cursor} next={next} go={go} />
          </>
        )
      }}
    </ViewState>
  )
}

/** List of names with values. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
